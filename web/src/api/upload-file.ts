import { refusalIn } from '@berth/api/client.ts'
import { refusalHeader } from '@berth/api/schemas/error.ts'
import { proveRequest, renewed } from '#/api/api-client.ts'
import { connectivity } from '#/api/connectivity.ts'

/** A file on its way to the API. */
export interface FileUpload {
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
