import { OwnSkills } from '../../ui/own-skills.tsx'
import { Page } from '../../ui/page.tsx'
import { LinkButton } from '../../ui/parts.tsx'

/** All skills of the user, including private ones. Actions on a skill are on its own page. */
export function OwnSkillsPage() {
  return (
    <Page title="Your skills" aside={<LinkButton href="/account/publish">Publish</LinkButton>}>
      <OwnSkills />
    </Page>
  )
}
