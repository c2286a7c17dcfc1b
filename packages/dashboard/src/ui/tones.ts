import type { ScanFinding, Security } from '@skillstead/protocol'
import type { Tone } from './parts.tsx'

export const verdictTones: Readonly<Record<Security['verdict'], Tone>> = {
  safe: 'good',
  caution: 'fair',
  dangerous: 'bad',
}

/** Most severe first. */
export const severityTones: Readonly<Record<ScanFinding['severity'], Tone>> = {
  critical: 'bad',
  high: 'bad',
  medium: 'fair',
  low: 'plain',
  info: 'plain',
}
