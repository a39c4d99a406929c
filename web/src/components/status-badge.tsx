import type { Tone } from '#/containers/containers.ts'

/** Status in a word; colour and shape of the dot repeat it. */
export function StatusBadge({ word, tone }: { word: string; tone: Tone }) {
  return (
    <span className={`badge ${tone}`}>
      <span className="dot" aria-hidden />
      {word}
    </span>
  )
}
