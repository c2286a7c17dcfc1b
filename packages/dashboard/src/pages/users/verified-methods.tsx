import { Badge } from '../../ui/parts.tsx'

const methodTitles = { github: 'GitHub', domain: 'domain', manual: 'by hand' } as const

/** How an author was verified; nothing where that is not so. */
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
