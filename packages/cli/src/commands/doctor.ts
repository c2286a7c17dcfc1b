import { checkRegistry, mendRegistry, type Finding, type Registry } from '@skillstead/core'
import { flag, type Command } from '../command.ts'
import { storeOptions, withRegistry } from '../place.ts'

/** `skillstead doctor`: fails where something is wrong, so that a script can ask. */
export const doctor: Command<{ ok: true; findings: Finding[] }> = {
  summary: 'Checks a registry and the machine under it; fails with a sentence where something is wrong.',
  words: [],
  options: { mend: { help: 'computes reputations anew where they are wrong' }, ...storeOptions },
  async run(given, output) {
    const node = { name: 'node', ok: true, detail: `Node ${process.versions.node}` }
    const findings = [node, ...(await withRegistry(given, flag(given, 'mend') ? checkAndMend : checkRegistry))]
    const wrong = findings.filter(({ ok }) => !ok)
    if (wrong.length === 0) return { ok: true, findings }
    for (const line of findings.map(toLine)) output.say(line)
    throw new Error(wrong.map(({ name, detail }) => `${name}: ${detail}`).join(' '))
  },
  show: ({ findings }) => findings.map(toLine),
}

/** Mends only where nothing else is wrong: what is computed from a damaged file would be wrong as well. */
async function checkAndMend(registry: Registry): Promise<Finding[]> {
  const findings = await checkRegistry(registry)
  const wrong = findings.filter(({ ok }) => !ok).map(({ name }) => name)
  if (wrong.join() !== 'reputation') return findings
  await mendRegistry(registry)
  return checkRegistry(registry)
}

function toLine({ name, ok, detail }: Finding): string {
  return `${ok ? 'ok   ' : 'WRONG'} ${name.padEnd(10)} ${detail}`
}
