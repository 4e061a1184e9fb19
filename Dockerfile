# The crawler with scrapyd, for compose.yaml: docs/how-to/docker.md. The steps are those of docs/how-to/scrapyd.md, except
# that the project is installed and not deployed, because the version of the image is the version of the project.
FROM python:3.11.13-slim-bookworm@sha256:86adf8dbadc3d6e82ee5dd2c74bec2e1c2467cdad47886280501df722372d2e1

WORKDIR /build
COPY requirements-scrapyd.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements-scrapyd.txt
COPY . ./
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

COPY deploy/docker/scrapyd.conf /etc/scrapyd/scrapyd.conf
COPY deploy/docker/crawl.toml /etc/crawlers/crawl.toml
RUN useradd --system --uid 10001 --home-dir /data --no-create-home crawlers \
    && install -d -o crawlers /data /var/lib/scrapyd

# Jobs import no module from the folder in which they write.
ENV SCRAPY_SETTINGS_MODULE=crawlers.settings PYTHONSAFEPATH=1
USER crawlers
WORKDIR /data
VOLUME /data
EXPOSE 6800 9410
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 \
    CMD ["python", "-c", "from base64 import b64encode; from os import environ; from urllib.request import Request, urlopen; key = b64encode('{SCRAPYD_USERNAME}:{SCRAPYD_PASSWORD}'.format_map(environ).encode()).decode(); urlopen(Request('http://127.0.0.1:6800/daemonstatus.json', headers={'Authorization': 'Basic ' + key}), timeout=4)"]
CMD ["sh", "-c", ": ${SCRAPYD_USERNAME:?is not set} ${SCRAPYD_PASSWORD:?is not set}; exec scrapyd --pidfile="]
