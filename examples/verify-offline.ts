// Verifies a provenance record and the files of a skill with only the public key of a node, without a network; the code
// also runs in a browser. `skillstead verify NAME --save record.json` saves a record, `skillstead key` prints the key.
//   node --conditions=source examples/verify-offline.ts record.json node.key path/to/skill
import { readFileSync, readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { verifyProvenance } from '@skillstead/client/verify'

const [recordFile, keyFile, folder] = process.argv.slice(2)
if (!recordFile || !keyFile || !folder)
  throw new Error('Give a record, a file with the key, and the folder of a skill.')

const record: unknown = JSON.parse(readFileSync(recordFile, 'utf8'))
const keys = readFileSync(keyFile, 'utf8').trim().split('\n')
const content = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => !entry.isDirectory())
  .map(({ parentPath, name }) => join(parentPath, name))
  .map((path) => ({ path: relative(folder, path).replaceAll(sep, '/'), bytes: readFileSync(path) }))

const report = verifyProvenance(record, { keys, content })
if (report.ok) {
  const { skill, version, publisher, publishedAt, log } = report.provenance
  console.log(`${skill.fullName}@${version} was published by ${publisher.username} on ${publishedAt.slice(0, 10)}`)
  console.log(log ? `the log of ${log.origin} holds it at ${log.index}` : 'it is not public, and in no log')
  console.log(`all ${content.length} files are what was published`)
} else {
  for (const { part, message } of report.problems) console.log(`${part}: ${message}`)
  process.exitCode = 1
}
