import type { AccessLists } from './access-lists.ts'
import { ambientVariables } from './access-words.ts'
import { regex } from '../text/regex.ts'

const namePattern = /^[A-Z][A-Z0-9_]{1,63}$/

/** Adds an environment variable, except those that every shell sets. */
export function addVariable(lists: AccessLists, name: string): void {
  if (namePattern.test(name) && !ambientVariables.has(name) && !name.startsWith('BASH_')) lists.add('environment', name)
}

/** How programs of many languages read a variable, each with a text that it always contains. */
const ways: readonly { readonly hint: string; readonly match: RegExp }[] = [
  { hint: 'process.env', match: /\bprocess\.env(?:\.|\??\.?\[\s{0,3}["'`])([A-Z][A-Z0-9_]{1,63})/g },
  { hint: 'import.meta.env', match: /\bimport\.meta\.env\.([A-Z][A-Z0-9_]{1,63})/g },
  { hint: 'Bun.env', match: /\bBun\.env\.([A-Z][A-Z0-9_]{1,63})/g },
  { hint: 'Deno.env', match: /\bDeno\.env\.(?:get|has)\(\s{0,3}["'`]([A-Z][A-Z0-9_]{1,63})/g },
  { hint: 'environ', match: /\benviron\s{0,2}\[\s{0,3}["']([A-Z][A-Z0-9_]{1,63})["']\s{0,3}\](?!\s{0,3}=[^=])/g },
  { hint: 'environ', match: /\benviron(?:\.get|\.pop|\.setdefault)\(\s{0,3}["']([A-Z][A-Z0-9_]{1,63})/g },
  { hint: 'environ', match: /["']([A-Z][A-Z0-9_]{1,63})["'] (?:not )?in os\.environ\b/g },
  { hint: 'getenv', match: /\bgetenv\(\s{0,3}["']([A-Z][A-Z0-9_]{1,63})/gi },
  { hint: 'LookupEnv', match: /\bLookupEnv\(\s{0,3}"([A-Z][A-Z0-9_]{1,63})/g },
  { hint: 'env::var', match: /\benv::var(?:_os)?\(\s{0,3}"([A-Z][A-Z0-9_]{1,63})/g },
  { hint: 'ENV', match: /\bENV(?:\[|\.fetch\(|\.key\?\()\s{0,3}["']([A-Z][A-Z0-9_]{1,63})/g },
  { hint: '$env:', match: /\$env:([A-Z][A-Z0-9_]{1,63})/gi },
  { hint: 'secrets.', match: /\$\{\{ {0,3}secrets\.([A-Z][A-Z0-9_]{1,63})/g },
]
const unpacked = /\{([\w\s,:=|"']{1,500})\} {0,3}= {0,3}process\.env\b/g
const whole = regex`\bdict\(os\.environ\)|\bos\.environ\.items\(\)|
  \bJSON\.stringify\(process\.env\b|\bObject\.(entries|keys|values)\(process\.env\b|\bDeno\.env\.toObject\(`

/** Finds the variables that a program reads. */
export function readVariables(code: string, lists: AccessLists): void {
  if (!/env|secrets\./i.test(code)) return
  for (const { hint, match } of ways) {
    if (!code.includes(hint)) continue
    for (const { 1: name } of code.matchAll(match)) addVariable(lists, name!)
  }
  if (code.includes('process.env')) {
    for (const { 1: names } of code.matchAll(unpacked))
      for (const [name] of names!.matchAll(/\b[A-Z][A-Z0-9_]{1,63}\b/g)) addVariable(lists, name)
  }
  if (whole.test(code)) lists.add('environment', '*')
}
