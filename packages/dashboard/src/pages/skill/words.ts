import type { ScanFinding, Security } from '@skillstead/protocol'

export const verdictSentences: Readonly<Record<Security['verdict'], string>> = {
  safe: 'The scan found no reason against it, which is no proof that it is harmless.',
  caution: 'Read the findings before you install it.',
  dangerous: 'Do not install it.',
}

export const riskSentences: Readonly<Record<Security['risk'], string>> = {
  none: 'It requests no access to your machine.',
  low: 'It requests little access to your machine.',
  medium: 'It requests some access to your machine and its data.',
  high: 'It requests much access to your machine and its data, whatever the purpose.',
}

export const signalSentences: Readonly<Record<ScanFinding['signal'], string>> = {
  hostile: 'This has no harmless purpose.',
  suspicious: 'Review this.',
  power: 'This is fine if you want it; it shows what the skill can do.',
  none: 'This was checked and is not an instruction.',
}
