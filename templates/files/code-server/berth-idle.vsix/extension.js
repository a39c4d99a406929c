/**
 * Runs in VS Code, once for each open page. The editor knows whether a person is at it (`window.state.active`: a key or the
 * mouse within a minute), which its server does not: an open page sends requests all the time. What is known is said to
 * `use.js`, a process of its own, because a command in a terminal goes on when the page is closed.
 */
const { spawn } = require('node:child_process')
const { request } = require('node:http')
const path = require('node:path')
const vscode = require('vscode')
const { port } = require('./use.js')

/** Between two reports while a person is at the page, in ms. */
const interval = 30_000

function report() {
  if (!vscode.window.state.active) return
  // The port answers nobody: the process is missing, or ended.
  request({ host: '127.0.0.1', port, method: 'POST', path: '/' })
    .on('error', startServer)
    .on('response', (response) => response.resume())
    .end()
}

/** It finds its port taken where another page was faster, and ends. */
function startServer() {
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' }
  spawn(process.execPath, [path.join(__dirname, 'use.js')], { detached: true, stdio: 'ignore', env }).unref()
}

exports.activate = (context) => {
  startServer()
  const timer = setInterval(report, interval)
  context.subscriptions.push({ dispose: () => clearInterval(timer) }, vscode.window.onDidChangeWindowState(report))
}
