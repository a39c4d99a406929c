set -e
bin=$(echo /usr/lib/postgresql/*/bin)
echo secret > /tmp/password
"$bin/initdb" --auth=scram-sha-256 --username=ann --pwfile=/tmp/password /home/adminer/data > /tmp/initdb.log
"$bin/pg_ctl" --wait --pgdata=/home/adminer/data --log=/tmp/postgres.log --options='-k /tmp' start > /dev/null
modules=$(for each in pdo pgsql pdo_pgsql; do echo "-d extension=$each"; done)
exec /usr/bin/php8.* $modules -S 0.0.0.0:8080 -t /srv
