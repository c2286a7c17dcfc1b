import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { localApi, systemCaller, type RegistryOptions } from '@skillstead/core'
import { startPostgres } from '../support/postgres.ts'
import { importCorpus, makeCatalogue, writeCorpus } from './catalogue.ts'
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
  /** Every so-manyth document. */
  readonly every: number
  readonly skills?: number
  readonly tenfold: boolean
}

/** Where a registry with the skills of the corpus is. */
interface Place {
  readonly title: string
  readonly location: RegistryOptions
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

  /** Does work in an empty place on each database that was asked for. */
  async onEmpty(work: (place: Place & { args: readonly string[] }) => Promise<Figure[]>): Promise<Figure[]> {
    const figures: Figure[] = []
    if (this.options.sqlite) {
      const folder = this.newFolder('data')
      mkdirSync(folder)
      const location = { path: join(folder, 'skillstead.db') }
      figures.push(...(await work({ title: 'SQLite', location, args: ['--data', folder] })))
      rmSync(folder, { recursive: true })
    }
    if (!this.options.postgres) return figures
    const postgres = await startPostgres()
    try {
      const databaseUrl = await postgres.createDatabase()
      const args = ['--database-url', databaseUrl]
      figures.push(...(await work({ title: 'PostgreSQL', location: { databaseUrl }, args })))
    } finally {
      await postgres.stop()
    }
    return figures
  }

  /** Does work where the corpus was imported, on each database that was asked for. */
  onLoaded(work: (place: Place, corpus: string) => Promise<Figure[]>): Promise<Figure[]> {
    return this.onEmpty(async ({ args, ...place }) => {
      const corpus = await this.corpus()
      const { path } = place.location
      if (path === undefined) await importCorpus(join(corpus, 'open.ndjson.gz'), args)
      else await makeCatalogue(join(path, '..'), { count: this.at(...corpusSkills), corpus })
      return work(place, corpus)
    })
  }
}

/** The API key of a new user who may publish. */
export async function makePublisher(location: RegistryOptions): Promise<string> {
  const registry = await openRegistry({ ...location, works: false, memorySkillsMax: 0 })
  const { key } = await localApi(registry, systemCaller).createUser({ username: 'bench' })
  await registry.close()
  return key
}
