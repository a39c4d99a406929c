import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import { Reconnection } from './reconnection.js'
import { fromServer, t } from './ui/i18n.js'

/** Characters per message: far below what the server accepts, so that a large paste passes. */
const chunk = 16_384
/** Close codes from here on are the server's own: the shell has ended, or none can be had (RFC 6455, 7.4.2). */
const applicationCodes = 4_000

/**
 * A terminal in the page, with a shell behind it while its socket lasts.
 * @param {HTMLElement} container
 * @param {{ onState: (text: string, isOver: boolean) => void, onQuiet: () => void, onLost: () => void }} events
 *   `onLost`: the connection was lost or refused, for a reason that a browser does not say; `onQuiet`: the shell printed something and has been silent for a moment, so files may have changed
 */
export function openTerminal(container, { onState, onQuiet, onLost }) {
  const terminal = new Terminal({
    fontSize: 14,
    fontFamily: 'ui-monospace, Menlo, Consolas, monospace',
    theme: colours(),
  })
  const fit = new FitAddon()
  /** @type {WebSocket | undefined} */
  let socket
  terminal.loadAddon(fit)
  terminal.open(container)

  /** @param {object} message */
  const send = (message) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message))

  // Input before the connection is open is kept: users type as soon as they see a terminal.
  let early = ''
  /** @param {string} data */
  const type = (data) => {
    for (let at = 0; at < data.length; at += chunk) send({ type: 'input', data: data.slice(at, at + chunk) })
  }
  terminal.onData((data) => {
    if (socket?.readyState !== WebSocket.CONNECTING) type(data)
    else if (early.length < chunk) early += data
  })
  terminal.onResize(({ cols, rows }) => send({ type: 'resize', cols, rows }))
  new ResizeObserver(() => fit.fit()).observe(container)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => (terminal.options.theme = colours()))
  letTabOut(terminal)

  const quiet = quietly(onQuiet)
  /** @param {string} [state] what is said beside the terminal while it is connected */
  const connect = (state = '') => {
    fit.fit()
    const made = new WebSocket(address(terminal))
    socket = made
    made.addEventListener('open', () => {
      onState(state, false)
      again.succeeded()
      send({ type: 'resize', cols: terminal.cols, rows: terminal.rows })
      type(early)
      early = ''
    })
    made.addEventListener('message', ({ data }) => {
      terminal.write(data)
      quiet()
    })
    made.addEventListener('close', ({ code, reason }) => {
      if (made !== socket) return
      if (code >= applicationCodes) onState(fromServer(reason), true)
      else {
        again.after(code)
        onLost()
      }
    })
  }
  const again = new Reconnection({
    connect: () => connect(t('The connection was lost; this is a new shell.')),
    onState,
  })
  const start = () => {
    onState(t('Connecting…'), false)
    again.stop()
    terminal.reset()
    connect()
  }
  start()
  const pause = () => again.hold()
  const resume = () => socket?.readyState !== WebSocket.OPEN && again.resume()
  return { again: () => (start(), terminal.focus()), pause, resume }
}

/**
 * With the size, so that the shell's first words fit: it draws its prompt anew when the size changes, over what is above.
 * Made absolute, because WebSockets know no relative addresses in older browsers.
 * @param {Terminal} terminal
 */
function address({ cols, rows }) {
  const url = new URL(`api/terminal?cols=${cols}&rows=${rows}`, document.baseURI)
  url.protocol = url.protocol.replace('http', 'ws')
  return url
}

/**
 * Tab belongs to the shell; WCAG 2.1.2 forbids a keyboard trap, so Shift+Escape leaves the terminal.
 * @param {Terminal} terminal
 */
function letTabOut(terminal) {
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.key !== 'Escape' || !event.shiftKey) return true
    document.getElementById('split-terminal')?.focus()
    return false
  })
}

/** @param {() => void} call */
function quietly(call) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  return () => {
    clearTimeout(timer)
    timer = setTimeout(call, 700)
  }
}

/** From the style sheet, so that the terminal follows the page between light and dark. */
function colours() {
  const style = getComputedStyle(document.documentElement)
  const of = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim()
  const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
  const plain = names.map((name) => [name, of(`term-${name}`)])
  const bright = plain.map(([name = '', value]) => [`bright${name.charAt(0).toUpperCase()}${name.slice(1)}`, value])
  return {
    ...Object.fromEntries([...plain, ...bright]),
    background: of('code-ground'),
    foreground: of('ink'),
    cursor: of('accent'),
    cursorAccent: of('code-ground'),
    selectionBackground: of('selection'),
  }
}
