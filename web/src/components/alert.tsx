import { useEffect, useRef } from 'react'
import { useErrorMessage } from '#/i18n/i18n-provider.tsx'

interface AlertProps {
  /** Any thrown value; undefined shows nothing. */
  error: unknown
  /** A failure without a thrown value; shown first. */
  sentence?: string | undefined
  /** For `aria-describedby` of the field that the error is about. */
  id?: string
  /** Takes the focus where the failure removes the pressed button: the error is then what matters. */
  takesFocus?: boolean
}

/**
 * A failure, in a sentence, announced at once. The element is always rendered: screen readers miss alerts that arrive
 * with their text.
 */
export function Alert({ error, sentence, id, takesFocus = false }: AlertProps) {
  return (
    <div role="alert" id={id} className="live">
      {(error !== undefined || sentence !== undefined) && (
        <Failure error={error} sentence={sentence} takesFocus={takesFocus} />
      )}
    </div>
  )
}

/** A component of its own: a list of 300 rows has 600 alerts, and hardly ever a failure. */
function Failure({ error, sentence, takesFocus }: Required<Pick<AlertProps, 'error' | 'sentence' | 'takesFocus'>>) {
  const text = useRef<HTMLParagraphElement>(null)
  const sentenceOf = useErrorMessage()

  useEffect(() => {
    if (takesFocus && document.activeElement === document.body) text.current?.focus()
  }, [error, takesFocus])

  return (
    <p className="alert" ref={text} tabIndex={takesFocus ? -1 : undefined}>
      {sentence ?? sentenceOf(error)}
    </p>
  )
}
