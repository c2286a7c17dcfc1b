import '../../styles/account.css'
import type { FunctionComponent } from 'preact'
import { Route, Router } from 'preact-iso'
import { AreaTabs } from '../../ui/tabs.tsx'
import { forUsers, NotHere } from '../placeholder-pages.tsx'
import { KeysPage } from './keys-page.tsx'
import { OverviewPage } from './overview-page.tsx'
import { PublishPage } from './publish/publish-page.tsx'
import { ReviewPage, ReviewsPage } from './reviews-pages.tsx'
import { TrustedIdentitiesPage } from '../organisations/trusted-identities.tsx'
import { SetupPage } from './setup-page.tsx'
import { SignInPage } from './sign-in-page.tsx'
import { VerificationPage } from './verification-page.tsx'
import { WebhookPage, WebhooksPage } from './webhooks-pages.tsx'
import { OwnSkills } from '../../ui/own-skills.tsx'
import { Items, Page, usePaged } from '../../ui/page.tsx'
import { LinkButton } from '../../ui/parts.tsx'
import { SessionTable } from '../../ui/user-access.tsx'
import { api } from '../../api.ts'
import { SkillList } from '../../ui/skill-list.tsx'

const pages = [
  ['/account', 'You', asOwn(OverviewPage)],
  ['/account/skills', 'Skills', asOwn(OwnSkillsPage)],
  ['/account/publish', 'Publish', asOwn(PublishPage)],
  ['/account/reviews', 'Approvals', asOwn(ReviewsPage)],
  ['/account/keys', 'API keys', asOwn(KeysPage)],
  ['/account/ci', 'CI jobs', asOwn(TrustedIdentitiesPage)],
  ['/account/sessions', 'Sessions', asOwn(SessionsPage)],
  ['/account/webhooks', 'Webhooks', asOwn(WebhooksPage)],
  ['/account/stars', 'Stars', asOwn(StarsPage)],
  ['/account/verification', 'Verification', asOwn(VerificationPage)],
] as const
const Webhook = asOwn(WebhookPage)
const Review = asOwn(ReviewPage)

/** The pages of the signed-in user. */
export default function AccountPages() {
  return (
    <Router>
      {pages.map(([path, , component]) => (
        <Route key={path} path={path.replace('/account', '') || '/'} component={component} />
      ))}
      <Route path="/sign-in" component={SignInPage} />
      <Route path="/setup" component={SetupPage} />
      <Route path="/webhooks/:id" component={Webhook} />
      <Route path="/reviews/:id" component={Review} />
      <Route default component={NotHere} />
    </Router>
  )
}

/** A page with the tabs of its area. */
function asOwn(Content: FunctionComponent): FunctionComponent {
  return forUsers(() => (
    <>
      <AreaTabs label="Account" pages={pages} />
      <Content />
    </>
  ))
}

/** All skills of the user, including private ones. Actions on a skill are on its own page. */
function OwnSkillsPage() {
  return (
    <Page title="Your skills" aside={<LinkButton href="/account/publish">Publish</LinkButton>}>
      <OwnSkills />
    </Page>
  )
}

/** The browsers in which the user is signed in. */
function SessionsPage() {
  return (
    <Page title="Sessions" hint="The browsers in which you are signed in. End those that you do not know.">
      <SessionTable />
    </Page>
  )
}

/** The skills that the user starred. */
function StarsPage() {
  const stars = usePaged(['stars'], (page) => api.listStars({ page }))
  const empty = (
    <>
      You have not starred any skills yet. Use the star on the page of <a href="/">a skill</a> to list it here.
    </>
  )
  return (
    <Page title="Stars">
      <Items of={stars} items="skills" empty={empty}>
        {(skills) => <SkillList skills={skills} />}
      </Items>
    </Page>
  )
}
