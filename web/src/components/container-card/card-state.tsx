import type { ReactNode } from 'react'
import { ApiError } from '@berth/api/client.ts'
import { Alert } from '#/components/alert.tsx'
import { AskForHelpButton, canAskForHelp } from '#/support-contact/ask-for-help.tsx'
import { LaunchFailure } from '#/components/launch/launch-failure.tsx'
import { AutoOpenNote, LaunchProgressBar } from '#/components/launch/launch-progress.tsx'
import { helpAfter } from '#/launch/launch-failure-help.ts'
import type { LaunchState } from '#/launch/launch-state.ts'

interface CardStateProps {
  /** Of the card's heading. */
  labelledBy: string
  /** Why the last thing that was asked for failed. */
  failure: unknown
  /** What a failure says must be seen: the pressed button has gone. */
  takesFocus: boolean
  /** What is going on, in words for as long as no stage is told; undefined when nothing is. */
  progress: { readonly launch: LaunchState | undefined; readonly otherwise: string } | undefined
  /** It opens by itself; pressing this ends that. */
  onStay: (() => void) | undefined
  /** What a mail that asks for help is about. */
  about: string
  /** What is shown while nothing goes on. */
  children: ReactNode
}

/**
 * The changing part of a card, in a room of a constant height: how far a launch is, or why it failed, lies over the usual
 * content, so that no card grows, and nothing moves away below a pointer, by itself.
 */
export function CardState(props: CardStateProps) {
  const { labelledBy, failure, takesFocus, progress, onStay, about, children } = props
  const hasFailed = failure !== undefined
  return (
    <div className="card-state">
      <div className="card-content">{children}</div>
      {progress && !hasFailed && (
        <div className="card-overlay">
          <LaunchProgressBar {...progress} />
          {onStay && <AutoOpenNote onStay={onStay} />}
        </div>
      )}
      {/* Always there, because screen readers miss alerts that arrive with their text. It scrolls where words are long. */}
      <div
        className={hasFailed ? 'card-overlay' : undefined}
        role={hasFailed ? 'group' : undefined}
        aria-labelledby={hasFailed ? labelledBy : undefined}
        // What scrolls must be reached by keyboard (WCAG 2.2, 2.1.1).
        tabIndex={hasFailed ? 0 : undefined}
      >
        <Alert error={failure} takesFocus={takesFocus} />
        <div className={hasFailed ? 'failure-more' : undefined}>
          <LaunchFailure error={failure} isFolded />
          {needsHelp(failure) && <AskForHelpButton about={about} />}
        </div>
      </div>
    </div>
  )
}

/** To launch it once more would not help, and there is somebody to ask. */
export const needsHelp = (failure: unknown) =>
  failure instanceof ApiError && helpAfter(failure.body) === 'contact' && canAskForHelp
