import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import { isWithoutUsers } from '../accounts/users.ts'
import type { Database } from '../storage/database.ts'
import { findMeta, putMeta } from '../storage/meta.ts'

/** Digits and letters, without I, L, O and U, which are easily misread (Crockford's base 32). */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const half = 4
/** Key in the table `meta` of the digests of the valid codes of all nodes on the database, newest first. */
const metaKey = 'setup_codes'
/** Maximum number of stored digests: nodes may be restarted repeatedly before setup. */
const codesMax = 16

/**
 * The code that proves that the first user has access to the machine, of 40 random bits. Only its digest is stored, and
 * only on PostgreSQL, where a load balancer may send a user who read the code in one node's output to another node.
 */
export class SetupCode {
  /** In printed form: `XXXX-XXXX`. */
  readonly code: string
  readonly #expected: Buffer
  readonly #database: Database

  constructor(database: Database) {
    const random = Array.from({ length: 2 * half }, () => letters[randomInt(letters.length)]).join('')
    this.code = `${random.slice(0, half)}-${random.slice(half)}`
    this.#expected = hashSetup(random)
    this.#database = database
  }

  /** Whether the input is the code of this or of another node. Ignores case and hyphens; reads I and L as 1, O as 0. */
  async matches(typed: string): Promise<boolean> {
    const { dialect, read } = this.#database
    const given = hashSetup(typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll(/[IL]/g, '1').replaceAll('O', '0'))
    if (timingSafeEqual(given, this.#expected)) return true
    const codes = dialect === 'sqlite' ? [] : await readSetupCodes(read)
    return codes.some((code) => timingSafeEqual(given, Buffer.from(code, 'base64')))
  }

  /** Shares the code with the other nodes on the database, while there is no user. */
  async share(): Promise<void> {
    const { dialect, read, writer } = this.#database
    if (dialect === 'sqlite' || !(await isWithoutUsers(read))) return
    await writer.write(async (trx) => {
      const codes = [this.#expected.toString('base64'), ...(await readSetupCodes(trx))].slice(0, codesMax)
      await putMeta(trx, metaKey, JSON.stringify(codes))
    })
  }
}

async function readSetupCodes(db: Database['read']): Promise<string[]> {
  return JSON.parse((await findMeta(db, metaKey)) ?? '[]')
}

function hashSetup(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
