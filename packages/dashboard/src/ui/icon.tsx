import type { IconNode } from 'lucide'
import { h } from 'preact'
import { site } from '../site.ts'

/** An icon of https://lucide.dev, as large as the text around it; screen readers skip it. */
export const Icon = ({ of }: { of: IconNode }) => (
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

/** The operator's logo; by default a house with lines of text in it, as in the icon of the window, `icon.svg`. */
export function Logo() {
  if (site.logo) return <img class="logo" src={site.logo} alt="" />
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="currentColor" />
      <path
        d="M6.5 15 16 7l9.5 8M10.5 15.5v9h11v-9M13.5 18.5h5M13.5 21.5h3.5"
        fill="none"
        stroke="var(--on-accent)"
        stroke-width="2.2"
        stroke-linejoin="round"
        stroke-linecap="round"
      />
    </svg>
  )
}
