# The crawler with scrapyd, for compose.yaml: docs/how-to/docker.md. The steps are those of docs/how-to/scrapyd.md, except
# that the project is installed and not deployed, because the version of the image is the version of the project.
FROM python:3.11.13-slim-bookworm

WORKDIR /build
COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt scrapyd==1.6.0 'psycopg[binary]==3.3.9' 'setuptools<81'
COPY . ./
RUN pip install --no-cache-dir --no-deps .

COPY deploy/docker/scrapyd.conf /etc/scrapyd/scrapyd.conf
COPY deploy/docker/crawl.toml /etc/crawlers/crawl.toml
RUN useradd --system --uid 10001 --home-dir /data --no-create-home crawlers \
    && install -d -o crawlers /data /var/lib/scrapyd

ENV SCRAPY_SETTINGS_MODULE=crawlers.settings
USER crawlers
WORKDIR /data
VOLUME /data
EXPOSE 6800 9410
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:6800/daemonstatus.json', timeout=4)"]
CMD ["scrapyd", "--pidfile="]
