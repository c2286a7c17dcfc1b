import type { Organisation } from '@skillstead/protocol'

/** What the sections of an organisation show, and whether the user may change its members, teams and rules. */
export interface SectionProps {
  readonly organisation: Organisation
  readonly mayAdminister: boolean
}
