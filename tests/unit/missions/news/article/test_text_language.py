from crawlers.missions.news.article.article_reader import language_of

GERMAN = "Der Sturm kam in der Nacht vom Meer und nahm in der Altstadt die Dächer von mehreren Häusern mit."


def test_other_declared_languages_are_believed():
    assert language_of("nb", GERMAN * 2) == "nb"
