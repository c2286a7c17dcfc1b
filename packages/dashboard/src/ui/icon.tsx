import type { IconNode } from 'lucide'
import { h } from 'preact'

/** An icon of https://lucide.dev, as large as the text around it; screen readers skip it. */
export function Icon({ of }: { of: IconNode }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {of.map(([tag, attributes], place) => h(tag, { key: place, ...attributes }))}
    </svg>
  )
}
