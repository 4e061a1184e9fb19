from __future__ import annotations

import pytest

from crawlers.extraction.article.bylines import MAX_AUTHORS, authors


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Ann Lee", ("Ann Lee",)),
        ("By Ann Lee", ("Ann Lee",)),
        ("Von Ann Lee und Bo Ek", ("Ann Lee", "Bo Ek")),
        ("Ann Lee, Bo Ek & Cy Fox", ("Ann Lee", "Bo Ek", "Cy Fox")),
        ("Ann Lee og Bo Ek", ("Ann Lee", "Bo Ek")),
        ("Ana Ruiz y Leo Paz", ("Ana Ruiz", "Leo Paz")),
        ("Grant Lee, PhD", ("Grant Lee",)),
        ("Ann Lee (ann@example.test)", ("Ann Lee",)),
        ("<a href='/x'>Ann&nbsp;Lee</a>", ("Ann Lee",)),
        ("https://social.test/ann", ()),
        ("@ann", ()),
        ("admin", ()),
        ("105092", ()),
        ("Nicolas Ruiz C.", ("Nicolas Ruiz C.",)),
        ("Byron Vonnegut", ("Byron Vonnegut",)),
        ("牛镛、岳弘彬", ("牛镛", "岳弘彬")),
        # Roles and agencies
        ("Jane Doe, Political Editor", ("Jane Doe",)),
        ("Jane Doe, Reuters", ("Jane Doe",)),
        ("Reuters, Jane Doe", ("Jane Doe",)),
        ("Jane Doe and Bo Ek, The Associated Press", ("Jane Doe", "Bo Ek")),
        ("Jane Doe, political editor, and Bo Ek", ("Jane Doe", "Bo Ek")),
        ("Jane Doe, Chief Correspondent in Paris", ("Jane Doe",)),
        ("Jane Doe For The Mail On Sunday", ("Jane Doe",)),
        ("Jane Doe (Paris)", ("Jane Doe",)),
        ("Reuters", ("Reuters",)),
        # Words of bylines
        ("Analysis by Jane Doe", ("Jane Doe",)),
        ("An opinion by Jane Doe", ("Jane Doe",)),
        ("Story by: Jane Doe", ("Jane Doe",)),
        ("View all posts by Jane Doe", ("Jane Doe",)),
        ("Escrito por Ana Ruiz", ("Ana Ruiz",)),
        ("Por Ana Ruiz", ("Ana Ruiz",)),
        ("Texto: Ana Ruiz", ("Ana Ruiz",)),
        ("Escrito por João Silva", ("João Silva",)),
        ("Ein Gastbeitrag von Ann Lee", ("Ann Lee",)),
        ("Propos recueillis par Anne Roy", ("Anne Roy",)),
        ("A cura di Anna Rossi", ("Anna Rossi",)),
        ("di Anna Rossi", ("Anna Rossi",)),
        ("Door Anna de Vries", ("Anna de Vries",)),
        ("Av Anna Berg", ("Anna Berg",)),
        ("Skrevet af Anna Berg", ("Anna Berg",)),
        ("Skrevet av Anna Berg", ("Anna Berg",)),
        ("Teksti: Anna Mäki", ("Anna Mäki",)),
        ("Írta: Kovács János", ("Kovács János",)),
        ("Szerző: Kovács János és Nagy Éva", ("Kovács János", "Nagy Éva")),
        ("Του Γιάννη Παπαδόπουλου", ("Γιάννη Παπαδόπουλου",)),
        ("Γράφει η Μαρία Νικολάου", ("Μαρία Νικολάου",)),
        ("Συντάκτης: Γιάννης Παππάς", ("Γιάννης Παππάς",)),
        ("Yazan: Ayşe Yılmaz", ("Ayşe Yılmaz",)),
        ("Haber: Ayşe Yılmaz ve Can Demir", ("Ayşe Yılmaz", "Can Demir")),
        ("بقلم: محمد علي", ("محمد علي",)),
        ("كتبت سارة حسن", ("سارة حسن",)),
        ("به قلم علی رضایی", ("علی رضایی",)),
        ("نویسنده: علی رضایی", ("علی رضایی",)),
        ("מאת יוסי כהן", ("יוסי כהן",)),
        ("כתבה: דנה לוי", ("דנה לוי",)),
        ("लेखक: राम शर्मा", ("राम शर्मा",)),
        ("राम शर्मा द्वारा", ("राम शर्मा",)),
        ("홍길동 기자", ("홍길동",)),
        ("글·사진 홍길동 선임기자", ("홍길동",)),
        ("记者 王小明", ("王小明",)),
        ("本报记者王小明、李华", ("王小明", "李华")),
        ("作者：王小明", ("王小明",)),
        ("文／王小明", ("王小明",)),
        ("記者王小明／台北報導", ("王小明",)),
        ("文：山田太郎", ("山田太郎",)),
        ("山田太郎記者", ("山田太郎",)),
        ("Tác giả: Nguyễn Văn An", ("Nguyễn Văn An",)),
        ("Oleh: Budi Santoso", ("Budi Santoso",)),
        ("Penulis: Budi Santoso", ("Budi Santoso",)),
        ("โดย สมชาย ใจดี", ("สมชาย ใจดี",)),
        ("Autor: Jan Novák", ("Jan Novák",)),
        ("Napsala Jana Nováková", ("Jana Nováková",)),
        ("Autorka: Jana Nováková", ("Jana Nováková",)),
        ("Scris de Ion Popescu", ("Ion Popescu",)),
        ("De Ion Popescu", ("Ion Popescu",)),
        ("Автор: Іван Франко", ("Іван Франко",)),
        ("Подготовила Анна Иванова", ("Анна Иванова",)),
        ("Иван Петров, корреспондент", ("Иван Петров",)),
        ("Opracowała: Anna Nowak", ("Anna Nowak",)),
        # Names that begin like bylines
        ("De Vries", ("De Vries",)),
        ("Ursula von der Leyen", ("Ursula von der Leyen",)),
        ("Filmore West", ("Filmore West",)),
        ("Oleh Hontscharenko", ("Oleh Hontscharenko",)),
        ("x" * 200, ()),
    ],
)
def test_names_are_extracted_from_bylines(said, expected):
    assert authors([[said]], []) == expected


def test_first_source_with_persons_is_used():
    assert authors([["@ann"], ["Ann Lee"], ["Bo Ek"]], []) == ("Ann Lee",)


def test_site_is_the_author_only_if_there_is_no_other():
    assert authors([["The Post"], ["Bo Ek"]], ["the post"]) == ("Bo Ek",)
    assert authors([["The Post"], ["Staff"]], ["the post"]) == ("The Post",)


SHOWN = [["Analysis by Jane Doe, Political Editor"], ["Bo Ek"]]


@pytest.mark.parametrize(
    "said",
    ["Reuters", "The Post", "dpa", "post.test", "Post", "Bund der Leser e.V.", "The Post, London", "Editorial Board"],
)
def test_an_organisation_does_not_end_the_search_for_a_person(said):
    url = "https://www.post.test/1"
    assert authors([[said], ["Bo Ek"]], ["The Post"], url) == ("Bo Ek",)
    assert authors([[said]], ["The Post"], url, shown=SHOWN) == ("Jane Doe",)
    assert authors([[said]], ["The Post"], url) == (said.partition(",")[0],)


def test_shown_byline_must_look_like_names():
    assert authors([], [], shown=[["By the sea it rained all day"], ["More from our authors"], ["By Bo Ek"]]) == (
        "Bo Ek",
    )
    assert authors([["Ann Lee"]], [], shown=SHOWN) == ("Ann Lee",)
    assert authors([], ["The Post"], shown=[["By Bo Ek The Post Staff"]]) == ("Bo Ek",)


def test_names_are_unique_and_bounded():
    assert authors([["Ann Lee", "ann lee"]], []) == ("Ann Lee",)
    assert len(authors([[f"Ann L{'e' * n}" for n in range(50)]], [])) == MAX_AUTHORS
