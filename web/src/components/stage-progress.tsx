import type { LaunchEvent } from '@berth/api/container.ts'
import { stageView } from '#/launch-words.ts'

/** How far a launch is, in words and as a bar; nothing when there is nothing to wait for. Not read out by itself: numbers change all the time. */
export function StageProgress({ event }: { event: LaunchEvent | undefined }) {
  const view = event && stageView(event)
  if (!view) return null
  return (
    <div className="stage">
      <p>{view.words}</p>
      <progress aria-label={view.label} value={view.share} />
    </div>
  )
}
