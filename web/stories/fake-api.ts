import { endpoints, type EndpointName, type JsonName } from '@berth/api/endpoints.ts'
import { never, Refused, unreachable, type Story } from './story.ts'

/** Requests without a response in the story; the test of the stories fails for each. */
export const unanswered: string[] = []

/** A `fetch` that returns the story's responses at once. */
export function fakeFetch(story: Story): typeof fetch {
  return async (input, init) => {
    const request = new Request(new URL(String(input), location.href), init)
    const name = nameOf(request)
    if (isDown(story) && name !== undefined && ['health', ...streams].includes(name))
      throw new TypeError('Failed to fetch')
    if (name === 'health') return Response.json({ status: 'ok' })
    if (name === 'containerEvents' && story.eventsRefused) return refusalOf(story.eventsRefused)
    if (name === 'containerEvents') return streamOf(request, story.events ?? [['snapshot', {}]])
    if (name === 'groupEvents' && !story.memberStates) return new Response('')
    if (name === 'groupEvents')
      return streamOf(request, [
        ['snapshot', {}],
        ['members', { members: story.memberStates ?? [] }],
      ])
    if (name === 'readBuildLog') return new Response((story.logs ?? []).map((line) => `${line}\n`).join(''))
    if (name === 'containerLogs')
      return streamOf(
        request,
        (story.logs ?? []).map((text) => ['line', { text }]),
      )
    return answerOf(request, name, story)
  }
}

/** Whether requests of the story have no response: then pings and streams have none, either. */
export const isDown = ({ answers = {} }: Story) => Object.values(answers).includes(unreachable)

/** Whether the page asks again before it says that it got no answer, or one of 500 and above. */
export const isRetried = ({ answers = {} }: Story) =>
  Object.entries(answers).some(
    ([name, answer]) =>
      endpoints[name as JsonName].method === 'GET' &&
      (answer === unreachable || (answer instanceof Refused && answer.status >= 500)),
  )

const streams: readonly EndpointName[] = ['containerEvents', 'groupEvents', 'containerLogs']

function nameOf({ method, url }: Request): EndpointName | undefined {
  const { pathname } = new URL(url)
  const rows = Object.entries(endpoints) as [EndpointName, (typeof endpoints)[EndpointName]][]
  const fits = rows.filter(([, row]) => row.method === method && patternOf(row.path).test(pathname))
  // `/users/count` is more specific than `/users/{id}`.
  return fits.toSorted(([, a], [, b]) => a.path.split('{').length - b.path.split('{').length)[0]?.[0]
}

const patternOf = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)

async function answerOf(request: Request, name: EndpointName | undefined, story: Story): Promise<Response> {
  const fixture = name === undefined ? undefined : story.answers?.[name as JsonName]
  const given: unknown = typeof fixture === 'function' ? fixture(request) : fixture
  if (given === never) return new Promise(() => undefined)
  if (given === unreachable) throw new TypeError('Failed to fetch')
  if (given instanceof Refused) return refusalOf(given)
  if (given !== undefined) return Response.json(given)
  unanswered.push(`${request.method} ${new URL(request.url).pathname}`)
  return Response.json({ error: 'This story has no answer for that.' }, { status: 404 })
}

const refusalOf = ({ status, body, headers }: Refused) => Response.json(body, { status, headers })

/** Server-sent events that arrive at once, on a connection that stays open until the page closes it. */
function streamOf({ signal }: Request, events: readonly (readonly [string, unknown])[]): Response {
  const text = events.map(([name, data], at) => `id: ${at}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join('')
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text))
      signal.addEventListener('abort', () => controller.close(), { once: true })
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
