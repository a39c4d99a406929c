import type { ReactNode } from 'react'
import { ApiError } from '@berth/api/client.ts'
import { Alert } from '#/components/alert.tsx'
import { AskForHelpButton, canAskForHelp } from '#/support-contact/ask-for-help.tsx'
import { LaunchFailure } from '#/components/launch/launch-failure.tsx'
import { AutoOpenNote, LaunchProgressBar } from '#/components/launch/launch-progress.tsx'
import { helpAfter } from '#/launch/launch-failure-help.ts'
import type { LaunchState } from '#/launch/launch-state.ts'

interface CardStateProps {
  /** Id of the card's heading. */
  labelledBy: string
  /** Why the last operation failed. */
  failure: unknown
  /** The failure takes the focus, because the pressed button is gone. */
  takesFocus: boolean
  /** The operation under way, and its description until a stage is known; undefined when there is none. */
  progress: { readonly launch: LaunchState | undefined; readonly otherwise: string } | undefined
  /** Cancels the automatic opening, where there is one. */
  onStay: (() => void) | undefined
  /** Subject of a mail that asks for help. */
  about: string
  /** Shown while no operation is under way. */
  children: ReactNode
}

/**
 * The changing part of a card, of constant height: the progress of a launch, or why it failed, covers the usual
 * content, so that no card grows and nothing moves under a pointer.
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
      {/* Always rendered, because screen readers miss alerts that arrive with their text. Long text scrolls. */}
      <div
        className={hasFailed ? 'card-overlay' : undefined}
        role={hasFailed ? 'group' : undefined}
        aria-labelledby={hasFailed ? labelledBy : undefined}
        // A scrollable region must be reachable by keyboard (WCAG 2.2, 2.1.1).
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

/** Another launch would not help, and there is a contact. */
export const needsHelp = (failure: unknown) =>
  failure instanceof ApiError && helpAfter(failure.body) === 'contact' && canAskForHelp
