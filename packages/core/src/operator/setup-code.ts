import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import { isWithoutUsers } from '../accounts/users.ts'
import type { Database } from '../storage/database.ts'

/** Without I, L, O and U, which are read as something else (Crockford's base 32). */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const half = 4

/** The code that proves that the first user comes from the machine itself. */
export interface SetupCode {
  /** As it is printed: `XXXX-XXXX`. */
  readonly code: string
  /** Whether somebody typed it, or that of another node; case, hyphens and letters that look alike do not matter. */
  matches(typed: string): Promise<boolean>
  /** Has the other nodes on the database take it too, where there is nobody yet. */
  share(): Promise<void>
}

/** Where nodes share a database, what they take for a code: digests, the newest first. */
const metaKey = 'setup_codes'
/** Of nodes that were started again and again before anybody came. */
const codesMax = 16

/**
 * A code for this process, of 40 random bits. It is nowhere stored but as a digest, and that only on PostgreSQL: a
 * balancer brings whoever read it in the output of one node to another.
 */
export function createSetupCode({ dialect, read, writer }: Database): SetupCode {
  const random = Array.from({ length: 2 * half }, () => letters[randomInt(letters.length)]).join('')
  const expected = hash(random)
  return {
    code: `${random.slice(0, half)}-${random.slice(half)}`,
    async matches(typed) {
      const given = hash(toPlain(typed))
      if (timingSafeEqual(given, expected)) return true
      if (dialect === 'sqlite') return false
      const codes = await readCodes(read)
      return codes.some((code) => timingSafeEqual(given, Buffer.from(code, 'base64')))
    },
    async share() {
      if (dialect === 'sqlite' || !(await isWithoutUsers(read))) return
      await writer.write(async (trx) => {
        const codes = [expected.toString('base64'), ...(await readCodes(trx))].slice(0, codesMax)
        const row = { key: metaKey, value: JSON.stringify(codes) }
        await trx
          .insertInto('meta')
          .values(row)
          .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
          .execute()
      })
    },
  }
}

async function readCodes(db: Database['read']): Promise<string[]> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', metaKey).executeTakeFirst()
  return row ? (JSON.parse(row.value) as string[]) : []
}

function toPlain(typed: string): string {
  return typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll(/[IL]/g, '1').replaceAll('O', '0')
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
