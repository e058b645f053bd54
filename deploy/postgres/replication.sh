#!/usr/bin/env bash
# Lets the standby follow. It runs once, when the database is made.
set -euo pipefail
echo "host replication all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
