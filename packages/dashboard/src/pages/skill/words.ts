import type { ScanFinding, Security } from '@skillstead/protocol'

export const verdictSentences: Readonly<Record<Security['verdict'], string>> = {
  safe: 'Nothing that was found speaks against it.',
  caution: 'Look at what was found before you install it.',
  dangerous: 'Do not install it.',
}

export const riskSentences: Readonly<Record<Security['risk'], string>> = {
  none: 'It asks for no power over your machine.',
  low: 'It asks for little power over your machine.',
  medium: 'It asks for some power over your machine and its data.',
  high: 'It asks for much power over your machine and its data, whatever it does with it.',
}

export const signalSentences: Readonly<Record<ScanFinding['signal'], string>> = {
  hostile: 'This cannot be innocent.',
  suspicious: 'This calls for a look.',
  power: 'This is fine where you want it, and says how much the skill can do.',
  none: 'This was looked at and is no instruction.',
}
