import { Page } from '../ui/page.tsx'

export function NotHere() {
  return (
    <Page title="Nothing here">
      <p>
        There is no page at this address. <a href="/">Browse the skills</a> instead.
      </p>
    </Page>
  )
}
