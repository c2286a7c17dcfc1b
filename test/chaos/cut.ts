import pg from 'pg'

/** Opens a PostgreSQL database with `cut()`, which ends every other connection, as a failover or restart does. */
export async function openCuttable(databaseUrl: string) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  return {
    databaseUrl,
    async cut() {
      const others = 'from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
      await client.query(`select pg_terminate_backend(pid) ${others}`)
    },
    close: () => client.end(),
  }
}
