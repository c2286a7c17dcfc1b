import { useState } from 'preact/hooks'
import { addresses, nodeUrl } from '../../addresses.ts'
import { site } from '../../site.ts'
import { Picture } from '../../ui/own-files.tsx'
import { Copyable } from '../../ui/parts.tsx'
import type { ShownSkill } from './shown-skill.ts'

/** The badge of a public skill, with Markdown to embed it. */
export function BadgeCode({ shown: { skill } }: { shown: ShownSkill }) {
  const [isOpen, setOpen] = useState(false)
  // Pages elsewhere cannot load a picture of a private node.
  if (skill.visibility !== 'public' || site.isPrivate) return null
  const path = `/badge/${skill.fullName}.svg`
  const page = `${nodeUrl}${addresses.skill(skill.fullName)}`
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Badge for a README</summary>
      {isOpen && <Picture path={path} alt={`Badge of ${skill.fullName}`} height={20} />}
      <Copyable text={`[![${skill.fullName}](${nodeUrl}${path})](${page})`} />
    </details>
  )
}
