import { useState } from 'preact/hooks'

/** A drop zone for a folder, an archive or a SKILL.md; buttons do the same for keyboards and phones. */
export function DropZone({ onDrop }: { onDrop(event: Event): void }) {
  const [over, setOver] = useState(false)
  return (
    <div
      class={over ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        onDrop(event)
      }}
    >
      <p>
        <strong>Drop the folder of a skill here</strong>, or a zip, tar.gz or SKILL.md.
      </p>
      <div class="row">
        <label class="button">
          Choose a folder
          <input class="unseen" type="file" {...{ webkitdirectory: true }} onChange={onDrop} />
        </label>
        <label class="button">
          Choose a file
          <input class="unseen" type="file" accept=".zip,.skill,.tgz,.gz,.md" onChange={onDrop} />
        </label>
      </div>
    </div>
  )
}
