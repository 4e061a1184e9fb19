"""The words of bylines before names, in the languages of many papers, roles behind them, and agencies."""

from __future__ import annotations

import re

# Words that begin a byline whatever follows.
_PHRASES = """
by|view all posts by
|(?:an? )?(?:analysis|opinion|comment|commentary|review|story|report|reporting|interview|words|text|photos?
|photography|video|column|editorial|contributed|posted|published|written|reported|article|essay|research|updated
|produced|compiled|created) by
|(?:ein |eine )?(?:gastbeitrag|gastkommentar|kommentar|analyse|bericht|interview|essay|kolumne|reportage|rezension
|beitrag|geschrieben|verfasst|veröffentlicht|porträt|glosse|leitartikel|text|artikel) von
|(?:propos recueillis|publié|écrit|rédigé|posté|signé|(?:une )?(?:analyse|enquête|chronique|tribune)|texte|reportage
|article) par
|(?:escrito|escrit|publicado|publicat|redactado|elaborado|texto|text|análisis|anàlisi|análise|reportaje|reportagem
|entrevista|opinión|opinião|postado|crónica|crònica|informa) (?:por|per)
|(?:a cura|scritto|pubblicato|testo|analisi|intervista|articolo) (?:di|da)
|(?:scris|(?:un |o )?articol(?:ul)?(?: scris)?|publicat|redactat|material|text|(?:o )?analiză|realizat) de
|(?:geschreven|geplaatst|analyse|tekst|opgetekend) door
|(?:skrevet|skriven|skrivet|publicerad|publisert|udgivet|analys|analyse|text|tekst|kommentar) (?:av|af)
|(?:ditulis|dilaporkan|laporan) oleh|pewarta|viết bởi|γράφ(?:ει|ουν) (?:ο|η|οι)|γράφ(?:ει|ουν)
|συνέντευξη στ(?:ον|ην|η)|από (?:τον|την|τη)|írták|írta|összeállította|készítette|napísal[ai]?|napsal[ai]?
|napísal\\(a\\)|napsal\\(a\\)|zpracoval[ai]?|spracoval[ai]?|napisał[ai]?|opracował[ai]?|oprac\\.|napisa[ol]a?|piše
|подготовил[аи]?|написал[аи]?|беседовал[аи]?|підготува(?:в|ла|ли)|розмовля(?:в|ла)|спілкува(?:вся|лася)|напиша|بقلم
|به قلم|كتبها|كتبه|كتبت|كتب|מאת|লিখেছেন|เขียนโดย|รายงานโดย|เรียบเรียงโดย|เรื่องโดย|โดย
"""

# Prepositions and articles of languages where they begin bylines; some also begin names: De Vries, Von Trapp.
_PREPOSITIONS = "von|de|par|por|per|di|da|av|af|door|przez|oleh|od|от|від|του|της|των"


# Roles behind a comma: no part of a name.
_ROLES = """
editor|editors|correspondent|reporter|writer|columnist|analyst|contributor|contributing|producer|journalist|bureau
|chief|staff|professor|director|fellow|lecturer|researcher|critic|commentator|photographer|freelance|managing
|special|deputy|head of|ceo|intern|associate|assistant|author of|at the|for the|redakteur(?:in)?|redaktion
|korrespondent(?:in)?|chefredakteur(?:in)?|journaliste|rédact(?:eur|rice)|rédaction|correspondante?|grand reporter
|envoyée? spéciale?|chroniqueu(?:r|se)|periodista|corresponsal|redactor(?:a)?|redacción|enviad[oa] especial
|columnista|jornalista|repórter|editora?|colunista|giornalista|inviat[oa]|corrispondente|caporedattore
|dziennikar(?:z|ka)|redaktor(?:ka)?|korespondent(?:ka)?|novinář(?:ka)?|profesor(?:ius|ė)?|docent|политолог
|журналист(?:ка)?|корреспондент|обозреватель|редактор|журналіст(?:ка)?|кореспондент|оглядач|редакторка|muhabir
|editör|yazar|szerkesztő|újságíró|tudósító|δημοσιογράφος|ανταποκριτής|συντάκτης|journaliste?|verslaggever|redacteur
|toimittaja|wartawan|jurnalis|phóng viên|ผู้สื่อข่าว|مراسل|صحفي|كاتب|خبرنگار|سردبیر|כתב|עורך|संवाददाता|पत्रकार|pm|mp
|md|phd
"""

# Agencies.
_AGENCIES = """
reuters|ap|associated press|the associated press|afp|agence france-presse|dpa|deutsche presse-agentur|efe
|agencia efe|europa press|ansa|adnkronos|pa|pa media|press association|upi|bloomberg|tass|тасс|interfax|интерфакс
|риа новости|xinhua|kyodo|jiji|jiji press|yonhap|pti|ani|ians|aap|cp|the canadian press|ritzau|ntb|tt|stt|bns|elta
|pap|čtk|tasr|sita|mti|apa|sda|keystone-sda|ats|belga|anp|lusa|agerpres|mediafax|bta|бта|tanjug|hina|sta|aa
|anadolu(?: ajansı)?|dha|iha|irna|isna|tasnim|mehr|spa|wam|petra|kuna|mena|antara|bernama|vna|ttxvn|укринформ
|укрінформ|унн|уніан|унiан|rbc|cna|新华社|中新社|新华网|中央社|共同通信|時事通信|연합뉴스|뉴시스|뉴스1|epd|kna|sid
|apn|ots|stringer|agencies|agencias|agenturen|agences|agenzie|wires?|wire reports|wire services|news service
|press release|pressemitteilung
"""


def _alternatives(words: str) -> str:
    return "".join(line.strip() for line in words.strip().splitlines())


_SPACE = r"(?:\s*[:：]\s*|\s+|\Z)"
BEFORE = re.compile(
    rf"\A(?:(?:{_alternatives(_PHRASES)}){_SPACE}|(?:{_PREPOSITIONS})(?:\s*[:：]\s*|\s+(?=\S+\s+\S))"
    rf"|(?-i:{_PREPOSITIONS})\s+(?=\S))",
    re.I,
)
ROLE = re.compile(rf"(?:\A|\W)(?:{_alternatives(_ROLES)})(?:\Z|\W)|(?:報導|报道|報道|电|電)\Z", re.I)
AGENCY = re.compile(rf"(?:{_alternatives(_AGENCIES)})", re.I)
