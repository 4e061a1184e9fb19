"""The words of bylines, in the languages of many papers: before names, behind them, and in place of them."""

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

# Words before a colon, a slash or a bar. In Chinese, Japanese and Korean nothing need stand between.
_NOUNS = """
authors?|writers?|written|words|text|story|report|reporter|reported|journalist|article|byline|contributors?
|columnist|autor(?:en|in|innen|es?|as?|i|ka|ky|ři|zy|ë)?|verfasser(?:in)?|geschrieben|artikel|redakteur(?:in)?
|quelle|foto|fotos|photo|photos|auteure?s?|texte|textes|source|texto|textos|redacción|redação|redacció|reportagem
|reportaje|fuente|fonte|autore|autrice|testo|redactor(?:es)?|autoare|tekst|skribent|forfatter|författare
|kirjoittaja(?:t)?|teksti|toimittaja|szerző(?:k)?|szöveg|συντάκτη[ςσ]|συντάκτρια|ρεπορτάζ|κείμενο|επιμέλεια
|автор(?:ка|и|ы|и)?|авторы|авторка|текст|автор тексту|автор текста|фото|корреспондент|кореспондент|źródło|piše
|novinar(?:ka)?|yazar|yazan|haber|muhabir|hazırlayan|müəllif|الكاتبة?|كاتب|تقرير|إعداد|المحرر|حوار|تحرير|المصدر
|نویسنده|گزارش(?:گر)?|نوشته|خبرنگار|نگارنده|تحریر|رپورٹ|כתב(?:ה|ת)?|כותב(?:ת)?|लेखक|लेखिका|रिपोर्ट|रिपोर्टर
|संवाददाता|लेखन|লেখক|প্রতিবেদক|tác giả|bài và ảnh|bài|thực hiện|theo|penulis|penyunting|wartawan|pengarang|ผู้เขียน
|นักเขียน|เรื่อง|ผู้สื่อข่าว
"""
_CJK_NOUNS = """
(?:本报|本報|本刊|新华社|中新社|见习|特约|特約|通讯员|実習)?(?:记者|記者)|通讯员|撰稿人?|撰文|作者|文字|文图|文圖
|采写|採訪|采访|執筆者?|筆者|取材(?:・(?:文|構成))?|著者|構成|翻译|翻譯|編譯|编译|글쓴이|글·사진|글|작성자|기고
"""

# Words behind names.
_BEHIND = """
(?:\\s*(?:선임|수습|전문|인턴|객원|여행|의학)?(?:기자|특파원|논설위원|칼럼니스트|편집위원|통신원|리포터)|記者
|(?<=\\w)特派員|编辑部?|írása|yazdı|报道|報導|／文|\\s+द्वारा|\\s+लिखित|\\s+की रिपोर्ट)
"""

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

# Words of pictures, and of texts from elsewhere.
_CREDITS = """
photos?|photograph[sy]?|fotos?|bild(?:er)?|image|picture|credits?|quelle|source|fuente|fonte|archivo|źródło|zdroj
|фото|источник|джерело|kaynak|fotoğraf|المصدر|תמונה|צילום|theo|ảnh|nguồn|sumber|写真|出典|来源|來源|图|圖|사진|출처
|ภาพ|ที่มา|φωτογραφία|πηγή|forrás|fotó|sursa|edit(?:ed|or)
"""

# Words in names of organisations.
_ORGANISATIONS = """
e\\.\\s?v\\.|gmbh|inc|ltd|llc|s\\.?p\\.?a|stiftung|verband|newsroom|news ?desk|press|agency|agentur|agencia|agence
|editorial board|editorial team|team|newspaper|magazine|times|tribune|newswire|media|tv|radio|online|network
|association|customs|police|polizei|department|government|office|bureau|news|verein|feuerwehr|ministerium|foundation
|ministry|university|universität|institute?|council|commission|bund|redaktion|redacción|redação|rédaction|redazione
|redakcja|redakce|redakcia|redactie|toimitus|редакция|редакція|szerkesztőség|编辑部|編集部|뉴스팀|편집부
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
    rf"\A(?:(?:{_alternatives(_PHRASES)}){_SPACE}|(?:{_alternatives(_NOUNS)})(?:\s*[:：|/／]\s*|\s+[–—-]\s+|\Z)"
    rf"|(?:{_alternatives(_CJK_NOUNS)})\s*[:：|/／]?\s*|文\s*[:：|/／]\s*|(?:{_PREPOSITIONS})(?:\s*[:：]\s*|\s+(?=\S+\s+\S))"
    rf"|(?-i:{_PREPOSITIONS})\s+(?=\S))",
    re.I,
)
BEHIND = re.compile(rf"(?<=\S\S){_alternatives(_BEHIND)}\Z")
ROLE = re.compile(rf"(?:\A|\W)(?:{_alternatives(_ROLES)})(?:\Z|\W)|(?:報導|报道|報道|电|電)\Z", re.I)
AGENCY = re.compile(rf"(?:{_alternatives(_AGENCIES)})", re.I)
CREDIT = re.compile(rf"(?:{_alternatives(_CREDITS)})(?:\W|\Z)", re.I)
ORGANISATION = re.compile(
    rf"(?:\A|\W)(?:{_alternatives(_ORGANISATIONS)})(?:\Z|\W)"
    r"|\w\.(?:com|net|org|info|de|ch|at|fr|it|es|pl|cz|sk|lt|ru|ua|co|news|tv)(?:\Z|\W)",
    re.I,
)
