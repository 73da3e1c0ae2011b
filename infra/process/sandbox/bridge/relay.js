// Runs inside a sandbox without network: listens on 127.0.0.1:PORT, forwards every connection to the unix
// socket that was bound in, and runs the command. Usage: relay.js PORT SOCKET COMMAND [ARGUMENT ...]
import { spawn } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';

const [port, socketPath, command, ...args] = process.argv.slice(2);

const server = createServer({ allowHalfOpen: true }, (client) => {
  const upstream = connect({ path: socketPath, allowHalfOpen: true });
  client.on('error', () => upstream.destroy());
  upstream.on('error', () => client.destroy());
  client.pipe(upstream);
  upstream.pipe(client);
});
server.on('error', (error) => {
  process.stderr.write(`relay: cannot listen on port ${port}: ${error.message}\n`);
  process.exit(125);
});
server.listen(Number(port), '127.0.0.1', () => {
  writeSync(3, 's');
  closeSync(3);
  const child = spawn(command, args, { stdio: 'inherit' });
  child.on('error', (error) => {
    process.stderr.write(`relay: ${error.message}\n`);
    process.exit(127);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
});

// The command gets the signal too and decides; the relay has to outlive it.
process.on('SIGTERM', () => {});
process.on('SIGINT', () => {});
