from crawlers.extraction.article.text_language import language_of

TEXTS = {
    "en": "The storm came in from the sea during the night and took the roofs off several houses in the old town.",
    "de": "Der Sturm kam in der Nacht vom Meer und nahm in der Altstadt die Dächer von mehreren Häusern mit.",
    "hr": "Oluja je noću stigla s mora i odnijela krovove nekoliko kuća u starome gradu, rekla je u srijedu.",
    "zu": "Isivunguvungu sifike ebusuku sivela olwandle sasusa uphahla lwezindlu eziningi edolobheni elidala.",
    "uk": "Буря прийшла вночі з моря і зірвала дахи з кількох будинків у старому місті.",
    "ja": "嵐は夜中に海からやって来て、旧市街のいくつかの家の屋根を吹き飛ばしたと市長が水曜日に述べた。" * 3,
}


def test_other_declared_languages_are_believed():
    assert language_of("nb", TEXTS["de"] * 2) == "nb"
