import { useEffect, useId, useRef, useState } from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import { refusalIn } from '@berth/api/client.ts'
import { refusalHeader } from '@berth/api/schemas/error.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { proveRequest, renewed } from '#/api/api-client.ts'
import { connectivity } from '#/api/connectivity.ts'
import { Button, SubmitButton } from '#/components/button.tsx'
import { ConfirmDialog, Dialog, EndButton } from '#/components/dialog.tsx'
import { formatShare, shareOf } from '#/i18n/regional-formats.ts'

interface UploadDialogProps {
  entry: ContainerEntry
  onClose(): void
  onUpload(file: File): void
}

/** Asks for an archive, and says where it goes. */
export function UploadDialog({ entry: { display_name: name }, onClose, onUpload }: UploadDialogProps) {
  const t = useTranslations('snapshots.upload')
  const field = useId()
  const [file, setFile] = useState<File>()
  const [isMissing, setMissing] = useState(false)
  return (
    <Dialog title={t('title', { name })} onClose={onClose}>
      {(close) => (
        <form
          className="group-form"
          onSubmit={(event) => {
            event.preventDefault()
            if (!file) return setMissing(true)
            close()
            onUpload(file)
          }}
        >
          <p>{t('effect')}</p>
          <div className="group-field">
            <label htmlFor={field}>{t('file')}</label>
            <input
              id={field}
              type="file"
              accept=".tar,.tgz,.gz,application/x-tar,application/gzip"
              aria-describedby={`${field}-hint`}
              aria-invalid={isMissing}
              onChange={({ target }) => {
                setFile(target.files?.[0])
                setMissing(false)
              }}
            />
            <p className="hint" id={`${field}-hint`} role={isMissing ? 'alert' : undefined}>
              {isMissing ? t('none') : t('hint')}
            </p>
          </div>
          <div className="actions end">
            <EndButton word="cancel" onPress={close} />
            <SubmitButton>{t('start')}</SubmitButton>
          </div>
        </form>
      )}
    </Dialog>
  )
}

/** An archive on its way, in bytes. */
export interface Upload {
  readonly name: string
  readonly sent: number
  readonly size: number
}

interface UploadProgressProps {
  upload: Upload
  onCancel(): void
}

/**
 * How much of an archive was sent; afterwards that it is unpacked, which cannot be cancelled any more. To leave the
 * page cancels it, too, so that is asked about before.
 */
export function UploadProgress({ upload: { name, sent, size }, onCancel }: UploadProgressProps) {
  const t = useTranslations('snapshots.upload')
  const { number } = useFormatter()
  const id = useId()
  const isSent = sent >= size
  return (
    <div className="upload-progress">
      {!isSent && <LeaveQuestion />}
      <p id={id}>{isSent ? t('unpacking') : t('sending', { name })}</p>
      <progress aria-labelledby={id} max={size} {...(isSent ? {} : { value: sent })} />
      {!isSent && (
        <p className="hint">
          {t(
            'sent',
            formatShare(shareOf(sent, size, 'decimal'), (value, how) => number(value, how)),
          )}
        </p>
      )}
      {!isSent && (
        <Button variant="small" onPress={onCancel}>
          {t('cancel')}
        </Button>
      )}
    </div>
  )
}

/** While it is rendered, a link of the page asks before it is followed, and the browser before the document is left. */
function LeaveQuestion() {
  const t = useTranslations('snapshots.upload.leave')
  const [asked, setAsked] = useState<HTMLAnchorElement>()
  const mayLeave = useRef(false)

  useEffect(() => {
    function onClick(event: MouseEvent) {
      const link = event.target instanceof Element ? event.target.closest('a') : null
      if (!link || !leaves(link, event) || mayLeave.current) return
      event.preventDefault()
      event.stopPropagation()
      setAsked(link)
    }
    function onUnload(event: BeforeUnloadEvent) {
      if (!mayLeave.current) event.preventDefault()
    }
    // Before the listeners of React, which follow a link.
    addEventListener('click', onClick, { capture: true })
    addEventListener('beforeunload', onUnload)
    return () => {
      removeEventListener('click', onClick, { capture: true })
      removeEventListener('beforeunload', onUnload)
    }
  }, [])

  if (!asked) return null
  return (
    <ConfirmDialog
      title={t('title')}
      cancel={t('stay')}
      confirm={t('go')}
      onConfirm={() => {
        mayLeave.current = true
        asked.click()
      }}
      onClose={() => setAsked(undefined)}
    >
      <p>{t('effect')}</p>
    </ConfirmDialog>
  )
}

/** Neither a link to the page itself, which cancels nothing, nor one that opens elsewhere or is downloaded. */
const leaves = (link: HTMLAnchorElement, { ctrlKey, metaKey, shiftKey, altKey }: MouseEvent) =>
  !(ctrlKey || metaKey || shiftKey || altKey) &&
  link.target !== '_blank' &&
  !link.hasAttribute('download') &&
  link.href !== '' &&
  withoutHash(link.href) !== withoutHash(location.href)

const withoutHash = (address: string) => address.replace(/#.*$/, '')

/** A file on its way to the API. */
interface FileUpload {
  readonly path: string
  readonly type: string
  readonly file: Blob
  readonly signal: AbortSignal
  /** Called with the bytes that were sent. */
  readonly onProgress: (sent: number) => void
}

/**
 * Sends a file as the body of a request, without a limit for the time: `fetch` reports no progress of what it sends.
 * @returns the JSON of the answer @throws {ApiError} · TypeError when there is no answer · AbortError
 */
export async function uploadFile(upload: FileUpload): Promise<unknown> {
  const response = await renewed(() => sendFile(upload))
  if (!response.ok) throw await refusalIn(response)
  return response.json() as Promise<unknown>
}

function sendFile({ path, type, file, signal, onProgress }: FileUpload): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', path)
    proveRequest(request, { 'content-type': type })
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded))
    request.addEventListener('load', () => {
      connectivity.noteAnswer()
      const refusal = request.getResponseHeader(refusalHeader)
      const headers = refusal === null ? undefined : { [refusalHeader]: refusal }
      resolve(new Response(request.responseText, { status: request.status, ...(headers && { headers }) }))
    })
    request.addEventListener('error', () => reject(new TypeError('the upload had no answer')))
    request.addEventListener('abort', () => reject(signal.reason as Error))
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}
