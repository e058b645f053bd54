#!/usr/bin/env bash
# Copies the primary when there is no copy yet, and then follows it.
set -euo pipefail
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  rm -rf "${PGDATA:?}"/*
  until PGPASSWORD="$POSTGRES_PASSWORD" pg_basebackup --host "$PRIMARY" --username "$POSTGRES_USER" --pgdata "$PGDATA" --wal-method stream --write-recovery-conf; do
    echo "the primary cannot be copied yet; again in two seconds" >&2
    rm -rf "${PGDATA:?}"/*
    sleep 2
  done
  echo "primary_conninfo = 'host=$PRIMARY user=$POSTGRES_USER password=$POSTGRES_PASSWORD application_name=standby'" >>"$PGDATA/postgresql.auto.conf"
  chmod 0700 "$PGDATA"
fi
exec postgres -c hot_standby=on
