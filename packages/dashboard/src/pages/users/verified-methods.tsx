import { Badge } from '../../ui/parts.tsx'

const methodTitles = { github: 'GitHub', domain: 'domain', manual: 'manual' } as const

/** How an author was verified; nothing for unverified authors. */
export function VerifiedMethods({ methods }: { methods: readonly (keyof typeof methodTitles)[] }) {
  if (methods.length === 0) return null
  return (
    <span class="row">
      {methods.map((method) => (
        <Badge key={method} tone="good">
          {methodTitles[method]}
        </Badge>
      ))}
    </span>
  )
}
