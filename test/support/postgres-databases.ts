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
    if (row?.['changed'] === false) left.push(databaseUrl)
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

/**
 * Copies the rows that migrations insert into a schema of their own, and has every later statement that changes the
 * schema of the database noted there.
 */
const keepingSeed = `
do $$
declare one record; filled boolean;
begin
  create schema seed;
  for one in select tablename as name from pg_tables where schemaname = 'public' loop
    execute format('select exists (select from public.%I)', one.name) into filled;
    if filled then execute format('create table seed.%I as table public.%I', one.name, one.name); end if;
  end loop;
end $$;
create schema changes;
create table changes.noted (tag text);
create function changes.note() returns event_trigger language plpgsql security definer as $$
begin
  -- Not \`create table if not exists\` of one that exists.
  if tg_event = 'sql_drop' or exists (select from pg_event_trigger_ddl_commands()) then
    insert into changes.noted values (tg_tag);
  end if;
end $$;
create event trigger made on ddl_command_end execute function changes.note();
create event trigger dropped on sql_drop execute function changes.note();
alter event trigger made enable always;
alter event trigger dropped enable always`

/** Ends other sessions, deletes every row, puts the seed back and restarts sequences. The row answers what it found. */
const emptying = `
do $$
declare one record;
begin
  perform pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid();
  set local session_replication_role = replica;
  for one in select oid::regclass as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0 loop
    execute format('delete from %s', one.name);
  end loop;
  for one in select tablename as name from pg_tables where schemaname = 'seed' loop
    execute format('insert into public.%I overriding system value table seed.%I', one.name, one.name);
  end loop;
  perform setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
    from pg_sequences where schemaname = 'public';
end $$;
select exists (select from changes.noted) as changed`

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
