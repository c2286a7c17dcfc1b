import type { Registry } from '@skillstead/core'
import { checkRegistry, mendRegistry, type Finding } from '@skillstead/maintenance'
import { flag, type Arguments, type Command } from '../command.ts'
import type { Output } from '../output.ts'
import { storeOptions, withRegistry } from '../place.ts'
import { styled, type Line } from '../style.ts'
import { findStorageSentence } from '../storage-sentence.ts'

/** `skillstead doctor`: fails where something is wrong, so that a script can ask. */
export const doctor: Command<{ ok: true; findings: Finding[] }> = {
  summary: 'Checks a registry and the machine under it; fails with a sentence where something is wrong.',
  words: [],
  options: {
    deep: { help: 'reads everything that is stored and computes anew what can be; minutes for a large registry' },
    mend: { help: 'computes anew what is wrong, where nothing is that only a backup has' },
    ...storeOptions,
  },
  async run(given, output) {
    const node = { name: 'node', ok: true, detail: `Node ${process.versions.node}` }
    const findings = [node, ...(await examine(given, output))]
    const wrong = findings.filter(({ ok }) => !ok)
    if (wrong.length === 0) return { ok: true, findings }
    for (const line of findings.map(toLine)) output.say(line)
    throw new Error(wrong.map(({ name, detail }) => `${name}: ${detail}`).join(' '))
  },
  show: ({ findings }) => findings.map(toLine),
}

/** A registry that cannot even be opened is a finding as well. */
async function examine(given: Arguments, output: Output): Promise<Finding[]> {
  const options = { deep: flag(given, 'deep'), tell: output.say }
  try {
    return await withRegistry(given, (registry) => checkAndMend(registry, options, flag(given, 'mend')))
  } catch (error) {
    const detail = findStorageSentence(error)
    if (detail === undefined) throw error
    return [{ name: 'database', ok: false, detail }]
  }
}

/** Mends only where nothing else is wrong: what is computed from what is damaged would be wrong as well. */
async function checkAndMend(
  registry: Registry,
  options: Parameters<typeof checkRegistry>[1],
  mends: boolean,
): Promise<Finding[]> {
  const findings = await checkRegistry(registry, options)
  const wrong = findings.filter(({ ok }) => !ok)
  if (!mends || wrong.length === 0 || wrong.some(({ mendable }) => !mendable)) return findings
  await mendRegistry(registry, findings)
  return checkRegistry(registry, options)
}

function toLine({ name, ok, detail }: Finding): Line {
  return styled(ok ? 'good' : 'bad', `${ok ? 'ok   ' : 'WRONG'} ${name.padEnd(10)} ${detail}`)
}
