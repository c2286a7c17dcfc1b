import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { openDatabase } from './open-registry.ts'

const templateName = 'skillstead_template'
let template: Promise<void> | undefined

/** Databases of this worker that are migrated and empty, by their servers. */
const spare = new Map<string, string[]>()

/** An empty database without a schema. */
export async function createDatabase(
  server: string,
  from = 'template1',
): Promise<{ databaseUrl: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await runSql(`${server}postgres`, `create database ${name} template ${from} strategy file_copy`)
  return {
    databaseUrl: server + name,
    drop: async () => void (await runSql(`${server}postgres`, `drop database ${name} with (force)`)),
  }
}

/**
 * A migrated and empty database: one that an earlier suite gave back, or a copy of the template. Emptying one costs a
 * quarter of the processor time of dropping it and copying another.
 */
export async function takeDatabase(server: string): Promise<{ databaseUrl: string; giveBack(): Promise<void> }> {
  const left = spare.get(server) ?? []
  spare.set(server, left)
  await (template ??= makeTemplate(server))
  const databaseUrl = left.pop() ?? (await createDatabase(server, templateName)).databaseUrl
  async function giveBack(): Promise<void> {
    const [row] = await runSql(databaseUrl, emptying)
    // A database whose schema a test changed is not reused.
    if (row?.schema === 'as in the template') left.push(databaseUrl)
  }
  return { databaseUrl, giveBack }
}

/** Made by the first worker of the run that needs it. */
async function makeTemplate(server: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${server}postgres` })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock(7545)')
    const { rows } = await client.query('select 1 from pg_database where datname = $1', [templateName])
    if (rows.length > 0) return
    await client.query('drop database if exists skillstead_migrating with (force)')
    await client.query('create database skillstead_migrating')
    const database = await openDatabase({ databaseUrl: `${server}skillstead_migrating` })
    await database.close()
    await runSql(`${server}skillstead_migrating`, keepingSeed)
    await client.query(`alter database skillstead_migrating rename to ${templateName}`)
  } finally {
    await client.end()
  }
}

/** The definitions of tables, columns, indexes, constraints, triggers and functions as one digest. */
const schemaDigest = `(
  select md5(string_agg(line, ' ' order by line)) from (
    select format('%s %s', relname, relkind) from pg_class where relnamespace = 'public'::regnamespace
    union all select format('%s.%s %s %s %s %s', relname, attname, format_type(atttypid, atttypmod), attcollation,
        attnotnull, pg_get_expr(adbin, adrelid))
      from pg_attribute join pg_class on pg_class.oid = attrelid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped
    union all select pg_get_indexdef(indexrelid) from pg_index join pg_class on pg_class.oid = indexrelid
      where relnamespace = 'public'::regnamespace
    union all select format('%s %s %s', conname, convalidated, pg_get_constraintdef(oid))
      from pg_constraint where connamespace = 'public'::regnamespace
    union all select format('%s %s', tgenabled, pg_get_triggerdef(oid)) from pg_trigger where not tgisinternal
    union all select format('%s %s', proname, prosrc) from pg_proc where pronamespace = 'public'::regnamespace
  ) lines (line))`

/** Copies the rows that migrations insert into a schema of their own, with the digest of the tables. */
const keepingSeed = `
do $$
declare one record; filled boolean;
begin
  create schema seed;
  execute 'create table seed.digest as select ' || $digest$${schemaDigest}$digest$ || ' as value';
  for one in select tablename as name from pg_tables where schemaname = 'public' loop
    execute format('select exists (select from public.%I)', one.name) into filled;
    if filled then execute format('create table seed.%I as table public.%I', one.name, one.name); end if;
  end loop;
end $$`

/** Ends other sessions, deletes every row, puts the seed back and restarts sequences. One row answers what it found. */
const emptying = `
do $$
declare one record;
begin
  perform pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid();
  set local session_replication_role = replica;
  for one in select tablename as name from pg_tables where schemaname = 'public' loop
    execute format('delete from public.%I', one.name);
  end loop;
  for one in select tablename as name from pg_tables where schemaname = 'seed' and tablename <> 'digest' loop
    execute format('insert into public.%I overriding system value table seed.%I', one.name, one.name);
  end loop;
  perform setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
    from pg_sequences where schemaname = 'public';
end $$;
select case when value = ${schemaDigest} then 'as in the template' else 'changed' end as schema from seed.digest`

/** Runs statements on a PostgreSQL database; the rows of the last one. */
export async function runSql(databaseUrl: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const results = [await client.query(text)].flat()
    return (results.at(-1)?.rows ?? []) as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}
