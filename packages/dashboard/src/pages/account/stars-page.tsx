import { api, useData } from '../../api.ts'
import { Page, Pager, Shown, usePage } from '../../ui/page.tsx'
import { Empty } from '../../ui/parts.tsx'
import { SkillList } from '../../ui/skill-list.tsx'

/** The skills that the user starred. */
export function StarsPage() {
  const page = usePage()
  const stars = useData(['stars', page], () => api.listStars({ page }))
  return (
    <Page title="Stars">
      <Shown of={stars}>
        {({ skills }) =>
          skills.length === 0 ? (
            <Empty>
              You have not starred any skills yet. Use the star on the page of <a href="/">a skill</a> to list it here.
            </Empty>
          ) : (
            <SkillList skills={skills} />
          )
        }
      </Shown>
      <Pager totalPages={stars.data?.totalPages ?? 1} />
    </Page>
  )
}
