import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import Ajv from 'ajv-draft-04'

const file = createRequire(import.meta.url).resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json')
const schema = JSON.parse(readFileSync(file, 'utf8')) as object
// Formats (URIs, times) need another package; the tests compare the URIs themselves.
const validate = new Ajv.default({
  allErrors: true,
  strict: false,
  validateFormats: false,
  unicodeRegExp: false,
}).compile(schema)

/** The violations of the JSON schema of SARIF 2.1.0 by a log. */
export function findSarifFaults(log: unknown): unknown[] {
  return validate(log) ? [] : (validate.errors ?? [])
}
