"""The subjects of the town's pages: the words of each subject, and sentences in three languages.

All terms are in the nominative, so that every sentence of any language can contain any of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from examples.webs.prose import words

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping


class Subject(NamedTuple):
    """A subject in one language: *terms*, which are titles of pages, and *asides*, which only this subject has."""

    terms: tuple[str, ...]
    asides: tuple[str, ...]


SUBJECTS: Mapping[tuple[str, str], Subject] = {
    ("encodings", "en"): Subject(
        words(
            "character encoding|UTF-8|Unicode|code point|byte order mark|code page|ASCII|UTF-16|surrogate pair"
            "|combining mark|normalization form|mojibake|Latin alphabet number one|KOI8-R|Shift JIS|GB 18030"
            "|grapheme cluster|escape sequence|character set|text encoding"
        ),
        words("in every text file|when bytes become characters|for old scripts|in the charset of a web page"),
    ),
    ("databases", "en"): Subject(
        words(
            "transaction log|B-tree|index scan|foreign key|write-ahead log|query planner|isolation level|deadlock"
            "|materialized view|hash join|checkpoint|replication slot|primary key|vacuum|two-phase commit"
            "|relational algebra|stored procedure|buffer pool|snapshot|table partition"
        ),
        words("before the commit|in a busy database|when rows are locked|in every SQL dialect"),
    ),
    ("gardening", "en"): Subject(
        words(
            "compost heap|rose pruning|apple graft|seed tray|raised bed|leaf mould|cold frame|herb border|bean row"
            "|mulch layer|garden pond|potato ridge|tulip bulb|hedge trimming|greenhouse tomato|lavender cutting"
            "|crop rotation|wheelbarrow|watering can|slug fence"
        ),
        words("after the last frost|in clay soil|between the vegetables|on a dry morning"),
    ),
    ("astronomy", "en"): Subject(
        words(
            "red giant|spiral galaxy|parallax|meteor shower|solar eclipse|double star|planetary nebula|redshift"
            "|transit of Venus|pulsar|light year|celestial equator|dark matter|variable star|refracting telescope"
            "|asteroid belt|supernova|orbital period|comet tail|globular cluster"
        ),
        words("on a moonless night|beyond the milky way|in a small telescope|near the horizon"),
    ),
    ("encodings", "ru"): Subject(
        words(
            "кодировка|Юникод|кодовая страница|таблица символов|кодировка КОИ-8|метка порядка байтов|кодовая позиция"
            "|суррогатная пара|набор символов|нормализация текста|кракозябры|двоичный код|шестнадцатеричная запись"
        ),
        words("в каждом текстовом файле|на старых машинах|в заголовке страницы"),
    ),
    ("railways", "ru"): Subject(
        words(
            "паровоз|узкоколейная дорога|стрелочный перевод|семафор|вокзал|спальный вагон|поворотный круг"
            "|тепловоз|расписание поездов|железнодорожный мост|депо|дрезина"
        ),
        words("на дальней станции|зимой|у переезда"),
    ),
    ("gardening", "zh"): Subject(
        words("堆肥|月季修剪|苹果嫁接|育苗盘|温室番茄|郁金香球根|池塘|绿篱|轮作|竹林|盆景|牡丹"),
        words("春天的菜园里|下雨以后|在南方的庭院"),
    ),
    ("encodings", "zh"): Subject(
        words("字符编码|统一码|乱码|汉字编码|字节顺序标记|代码页|字符集|国标码|编码转换|码点"),
        words("在每个文本文件里|在网页的开头|在旧的系统里"),
    ),
}

# {a} and {b} are terms, {x} is an aside. {a} may be an HTML element, so that links are parts of sentences.
_SENTENCES: Mapping[str, tuple[str, ...]] = {
    "en": words(
        "Nobody understands {a} without {b}.|There is more to {a} than {b} {x}.|Here {a} is compared with {b} {x}."
        "|The history of {a} begins with {b}.|Of {a} it is said that it matters most {x}.|See {a}, and not only {x}."
    ),
    "ru": words(
        "{a} и {b}: в чём разница?|Здесь объясняется, что такое {a}, {x}.|Рядом всегда стоят {a} и {b}."
        "|{a} — это не то же самое, что {b}.|Что такое {a} и при чём тут {b} {x}?"
    ),
    "zh": words("{a}是什么。{x}它和{b}不同。|{a}与{b}的关系。|{x}{a}很重要。|请先看{a}、再看{b}。"),
}

# Link texts that do not describe their target.
EMPTY_ANCHORS: Mapping[str, tuple[str, ...]] = {
    "en": words("here|read more|this page|a friend writes"),
    "ru": words("здесь|подробнее|на этой странице"),
    "zh": words("这里|更多|这一页"),
}


def sentence(rng: random.Random, subject: str, lang: str, about: str) -> str:
    """Return a sentence about *about*, a term or an HTML element, in the words of the subject."""
    terms, asides = SUBJECTS[subject, lang]
    text = rng.choice(_SENTENCES[lang]).format(a=about, b=rng.choice(terms), x=rng.choice(asides))
    return text[0].upper() + text[1:]


def paragraph(rng: random.Random, subject: str, lang: str, count: int) -> str:
    """Return *count* sentences about the subject."""
    gap = "" if lang == "zh" else " "
    terms = SUBJECTS[subject, lang].terms
    return gap.join(sentence(rng, subject, lang, rng.choice(terms)) for _ in range(count))
