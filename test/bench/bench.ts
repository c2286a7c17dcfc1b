import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { localApi, systemCaller, type RegistryOptions } from '@skillstead/core'
import pg from 'pg'
import { startPostgres } from '../support/postgres.ts'
import { importCorpus, makeCatalogue, writeCorpus } from './catalogue.ts'
import { endProcesses } from './children.ts'
import type { Figure } from './figures.ts'
import { makeScratch } from './scratch.ts'
import { openRegistry } from '../support/open-registry.ts'

export interface BenchOptions {
  /** Much less of everything. */
  readonly isShort: boolean
  /** Real skills, in place of those that are made up. */
  readonly corpus?: string
  readonly security?: string
  /** A revision of this repository. */
  readonly against?: string
  /** The works to profile, by a part of their names. */
  readonly only?: string
  readonly ablation?: boolean
  /** Folders with code of packages that many people use. */
  readonly honest?: readonly string[]
  readonly cloaks: boolean
  readonly speed: boolean
  readonly sqlite: boolean
  readonly postgres: boolean
  /** Whether all parts are measured that docs/figures.md shows, on both databases where it shows both. */
  readonly isPage: boolean
  /** Every so-manyth document. */
  readonly every: number
  readonly skills?: number
  readonly tenfold: boolean
}

/** Where a registry is. */
interface Place {
  readonly title: 'SQLite' | 'PostgreSQL'
  readonly location: RegistryOptions
}

/** Where a registry is made. */
export interface EmptyPlace extends Place {
  /** The options of commands for it. */
  readonly args: readonly string[]
  /** Another one on the same database system. */
  another(): Promise<EmptyPlace>
  /** Removes what was made there. */
  remove(): Promise<void>
}

const corpusSkills = [1200, 5000] as const

/** What the parts of a run share. */
export class Bench {
  readonly options: BenchOptions
  readonly scratch: string
  #corpus: Promise<string> | undefined

  constructor(options: BenchOptions) {
    if (options.corpus !== undefined && !existsSync(join(options.corpus, 'open.ndjson.gz'))) {
      throw new Error(
        `There is no open.ndjson.gz in ${options.corpus}. Leave --corpus out to measure with made-up skills.`,
      )
    }
    this.options = options
    this.scratch = makeScratch('run')
  }

  get isShort(): boolean {
    return this.options.isShort
  }

  /** One of two sizes: `short` in a short run. */
  at<T>(short: T, full: T): T {
    return this.isShort ? short : full
  }

  /** A folder that is not there yet. */
  newFolder(name: string): string {
    const parent = mkdtempSync(join(this.scratch, `${name}-`))
    return join(parent, name)
  }

  /** The folder with skills, searches and pairs of copies. */
  corpus(): Promise<string> {
    return (this.#corpus ??= this.#findCorpus())
  }

  async #findCorpus(): Promise<string> {
    const { corpus } = this.options
    if (corpus !== undefined) return corpus
    const folder = join(this.scratch, 'corpus')
    await writeCorpus(folder, this.at(...corpusSkills))
    return folder
  }

  /**
   * Does work in an empty place on each database that was asked for; on both for the page of figures if it shows what
   * the work measures on both.
   */
  async onEmpty(work: (place: EmptyPlace) => Promise<Figure[]>, { isOnPage = false } = {}): Promise<Figure[]> {
    const figures: Figure[] = []
    if (this.options.sqlite) {
      const folders: string[] = []
      const another = async (): Promise<EmptyPlace> => {
        const folder = this.newFolder('data')
        mkdirSync(folder)
        folders.push(folder)
        const location = { path: join(folder, 'skillstead.db') }
        const remove = async () => rmSync(folder, { recursive: true })
        return { title: 'SQLite', location, args: ['--data', folder], another, remove }
      }
      figures.push(...(await work(await another())))
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    }
    if (!this.options.postgres && !(isOnPage && this.options.isPage)) return figures
    const postgres = await startPostgres()
    try {
      const another = async (): Promise<EmptyPlace> => {
        const databaseUrl = await postgres.createDatabase()
        const args = ['--database-url', databaseUrl]
        return {
          title: 'PostgreSQL',
          location: { databaseUrl },
          args,
          another,
          remove: () => dropDatabase(databaseUrl),
        }
      }
      figures.push(...(await work(await another())))
    } finally {
      // What failed may have left nodes running, which would report the end of their database.
      endProcesses()
      await postgres.stop()
    }
    return figures
  }

  /** As {@link onEmpty}, where the corpus was imported. */
  onLoaded(
    work: (place: Place, corpus: string) => Promise<Figure[]>,
    options?: { readonly isOnPage: boolean },
  ): Promise<Figure[]> {
    return this.onEmpty(async ({ args, title, location }) => {
      const corpus = await this.corpus()
      const { path } = location
      if (path === undefined) await importCorpus(join(corpus, 'open.ndjson.gz'), args)
      else await makeCatalogue(join(path, '..'), { count: this.at(...corpusSkills), corpus })
      return work({ title, location }, corpus)
    }, options)
  }
}

async function dropDatabase(databaseUrl: string): Promise<void> {
  const end = databaseUrl.lastIndexOf('/') + 1
  const client = new pg.Client({ connectionString: `${databaseUrl.slice(0, end)}postgres` })
  await client.connect()
  await client.query(`drop database ${databaseUrl.slice(end)} with (force)`)
  await client.end()
}

/** The API key of a new user who may publish. */
export async function makePublisher(location: RegistryOptions): Promise<string> {
  const registry = await openRegistry({ ...location, works: false, memorySkillsMax: 0 })
  const { key } = await localApi(registry, systemCaller).createUser({ username: 'bench' })
  await registry.close()
  return key
}
