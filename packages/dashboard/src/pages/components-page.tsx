import { Package } from 'lucide'
import { Check, Field, Select, TextArea } from '../ui/form.tsx'
import { Icon } from '../ui/icon.tsx'
import { Page } from '../ui/page.tsx'
import { Badge, Copyable, Count, Empty, Figures, Notice, SecurityBadge, Terms, Time, type Tone } from '../ui/parts.tsx'
import { FullName } from '../ui/skill-list.tsx'

const tones: readonly Tone[] = ['plain', 'good', 'fair', 'bad']
const colours = 'page raised text faint line strong-line accent soft-accent good soft-good fair soft-fair bad soft-bad'

/** All tokens and parts on one page, for authors of pages; DESIGN.md of this package explains them. */
export default function ComponentsPage() {
  return (
    <Page title="Components" aside={<button type="button">Main action</button>}>
      <h2>Colours</h2>
      <ul class="words">
        {colours.split(' ').map((name) => (
          <li key={name}>
            <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
              <rect width="10" height="10" rx="2" fill={`var(--${name})`} />
            </svg>{' '}
            <code>--{name}</code>
          </li>
        ))}
      </ul>
      <h2>Text</h2>
      <p class="lead">Lead: what a skill does, in one sentence.</p>
      <p>
        Text with a <a href="/_components">link in a sentence</a>, <code>code</code> and <kbd>Ctrl K</kbd>.
      </p>
      <p class="hint">A hint says what follows from a choice.</p>
      <p class="facts">
        <FullName name="alice/fill-pdf-forms" />
        <Count of={1200} unit="download" />
        <Count of={12} unit="star" />
        <Time at="2026-01-01T00:00:00Z" verb="published" />
      </p>
      <h2>Badges</h2>
      <p class="facts">
        {tones.map((tone) => (
          <Badge key={tone} tone={tone}>
            {tone}
          </Badge>
        ))}
        {[95, 60, 10, null].map((score) => (
          <SecurityBadge key={score} score={score} />
        ))}
      </p>
      <h2>Actions</h2>
      <p class="row">
        {['main', 'other', 'danger', 'quiet'].map((kind) => (
          <button key={kind} type="button" class={kind}>
            {kind}
          </button>
        ))}
        <button type="button" disabled>
          Disabled
        </button>
        <button type="button">
          <Icon of={Package} /> With an icon
        </button>
      </p>
      <h2>Forms</h2>
      <div class="form">
        <Field label="Field" name="field" hint="What it is for." />
        <Select label="Choice" name="choice" value="a" options={[['a', 'A value']]} onChange={() => {}} />
        <TextArea label="Text" name="text" rows={2} />
        <Check>A choice of yes or no</Check>
      </div>
      <h2>Messages</h2>
      {tones.map((tone) => (
        <Notice key={tone} tone={tone}>
          A message that is {tone}.
        </Notice>
      ))}
      <Empty>An empty list says what will be here, and how it gets there.</Empty>
      <h2>Data</h2>
      <Copyable text="skillstead install alice/fill-pdf-forms" />
      <Terms of={Object.entries({ Term: 'Value', Licence: 'MIT' })} />
      <Figures of={Object.entries({ Skills: 1200, Users: 12 })} />
    </Page>
  )
}
