import { api } from '../../api.ts'
import { useData } from '../../data/queries.ts'
import { useAddress } from '../../data/use-address.ts'
import { Page } from '../../ui/page.tsx'
import { Pager, toPageNumber } from '../../ui/pager.tsx'
import { Empty } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import { SkillList } from '../../ui/skill-list.tsx'

/** The skills that the user starred. */
export function StarsPage() {
  const page = toPageNumber(useAddress().fields.page)
  const stars = useData(['stars', page], () => api.listStars({ page }))
  return (
    <Page title="Stars">
      <Shown of={stars}>
        {({ skills, totalPages }) => (
          <>
            {skills.length === 0 ? (
              <Empty>
                <p>
                  You have not starred any skills yet. Use the star on the page of <a href="/">a skill</a> to list it
                  here.
                </p>
              </Empty>
            ) : (
              <SkillList skills={skills} />
            )}
            <Pager page={page} totalPages={totalPages} />
          </>
        )}
      </Shown>
    </Page>
  )
}
