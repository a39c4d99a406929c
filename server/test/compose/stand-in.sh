#!/bin/sh
# Entry of the images that stand in for the official ones where no registry answers: Debian's programs, with the variables,
# folders and files that deploy/compose relies on. Its argument is the name of the image that it stands in for.
set -eu
case $1 in
caddy)
  export XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config
  exec caddy run --adapter caddyfile --config /etc/caddy/Caddyfile
  ;;
nginx)
  rm -f /etc/nginx/sites-enabled/default
  names=$(env | cut -d= -f1 | grep -E "$NGINX_ENVSUBST_FILTER" | sed 's/.*/${&}/' | tr '\n' ' ')
  envsubst "$names" </etc/nginx/templates/default.conf.template >/etc/nginx/conf.d/default.conf
  exec nginx -g 'daemon off;'
  ;;
postgres)
  data=/var/lib/postgresql/data
  as_postgres="setpriv --reuid=postgres --regid=postgres --init-groups"
  chown postgres: "$data" /var/run/postgresql
  chmod 700 "$data"
  if [ ! -s "$data/PG_VERSION" ]; then
    install --owner=postgres --mode=600 "$POSTGRES_PASSWORD_FILE" /tmp/password
    # shellcheck disable=SC2086
    $as_postgres initdb --pgdata="$data" --username="$POSTGRES_USER" --pwfile=/tmp/password $POSTGRES_INITDB_ARGS
    # As the official image: without TCP until the database is there.
    $as_postgres pg_ctl --pgdata="$data" --wait --options="-c listen_addresses=''" start
    PGPASSWORD=$(cat /tmp/password) createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
    $as_postgres pg_ctl --pgdata="$data" --wait --mode=fast stop
    rm /tmp/password
  fi
  exec $as_postgres postgres -D "$data" -c listen_addresses='*'
  ;;
mailpit)
  exec python3 /stand-in/mail-catcher.py
  ;;
esac
