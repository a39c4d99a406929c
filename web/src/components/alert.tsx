import { useEffect, useRef } from 'react'
import { useErrorMessage } from '#/i18n/use-error-message.ts'

interface AlertProps {
  /** Anything that was thrown; undefined shows nothing. */
  error: unknown
  /** What is wrong without anything having been thrown; it goes first. */
  sentence?: string | undefined
  /** For `aria-describedby` of the field that the error is about. */
  id?: string
  /** Where the failure takes the pressed button away: a lost focus comes here, for this is what matters now. */
  takesFocus?: boolean
}

/** A failure, in a sentence, read out at once. The element is always there: screen readers miss alerts that arrive with their text. */
export function Alert({ error, sentence, id, takesFocus = false }: AlertProps) {
  const text = useRef<HTMLParagraphElement>(null)
  const sentenceOf = useErrorMessage()
  const said = sentence ?? (error === undefined ? undefined : sentenceOf(error))

  useEffect(() => {
    if (takesFocus && document.activeElement === document.body) text.current?.focus()
  }, [error, takesFocus])

  return (
    <div role="alert" id={id} className="live">
      {said !== undefined && (
        <p className="alert" ref={text} tabIndex={takesFocus ? -1 : undefined}>
          {said}
        </p>
      )}
    </div>
  )
}
