#!/bin/sh
# Writes scrapyd.conf into the current folder, with a password of its own, unless the file is there. Whoever has the
# password can run any code as the user of scrapyd; curl and scrapyd-deploy read it from .netrc beside it.
set -eu
umask 077
mkdir -p tmp  # TMPDIR of crawlers-scrapyd.service
test ! -e scrapyd.conf || exit 0
password=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
for host in localhost 127.0.0.1; do
  echo "machine $host login crawls password $password"
done > .netrc
cat > scrapyd.conf.part <<END
[scrapyd]
bind_address = 127.0.0.1
username = crawls
password = $password
max_proc = 4
jobs_to_keep = 30
jobstorage = scrapyd.jobstorage.SqliteJobStorage
END
mv scrapyd.conf.part scrapyd.conf  # complete, or not there
