import type { StatusView } from '#/container-status.ts'

/** Status in a word; colour and shape of the dot only repeat it. */
export function StatusBadge({ view }: { view: Pick<StatusView, 'word' | 'tone'> }) {
  return (
    <span className={`badge ${view.tone}`}>
      <span className="dot" aria-hidden />
      {view.word}
    </span>
  )
}
