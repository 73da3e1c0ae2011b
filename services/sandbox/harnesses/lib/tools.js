// The tools of both harnesses. File tools stay inside the working directory, symbolic links included.
import fs from 'node:fs';
import path from 'node:path';

const longestReadBytes = 8_000;
const longestShellBytes = 2_000;
const shellMs = 5_000;

/** name -> {description, parameters}: every parameter is a required string. */
export const toolTable = {
  read_file: { description: 'Read a file.', parameters: ['path'] },
  write_file: { description: 'Write a file.', parameters: ['path', 'content'] },
  shell: { description: 'Run a shell command.', parameters: ['command'] },
  delegate: { description: 'Ask a helper who can read files.', parameters: ['prompt'] },
};

/** JSON schema of a tool's arguments. */
export function schemaOf(name) {
  const { parameters } = toolTable[name];
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map((parameter) => [parameter, { type: 'string' }])),
    required: parameters,
  };
}

/** What is wrong with a call, or undefined when it can be run. `allowed` lists the thread's tools. */
export function findCallProblem(allowed, name, input) {
  if (!allowed.includes(name))
    return `unknown tool ${JSON.stringify(name ?? '')}; tools: ${allowed.join(', ')}`;
  if (input === null || typeof input !== 'object') return 'the arguments are no JSON object';
  const missing = toolTable[name].parameters.filter((parameter) => typeof input[parameter] !== 'string');
  return missing.length > 0 ? `${name} needs ${missing.join(' and ')} as text` : undefined;
}

/** Runs read_file, write_file or shell; resolves to the text for the model, failures included. */
export async function runTool(name, input) {
  try {
    if (name === 'read_file') return readText(input.path);
    if (name === 'write_file') return writeText(input.path, input.content);
    return await runShell(input.command);
  } catch (error) {
    return `Error: ${error.code === 'ENOENT' ? `no such file: ${input.path}` : error.message}`;
  }
}

function readText(file) {
  const bytes = fs.readFileSync(confine(file));
  return cut(bytes, longestReadBytes);
}

function writeText(file, content) {
  const target = confine(file);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(target, content);
  return `wrote ${file}`;
}

// The nearest existing ancestor decides: a symbolic link that leads out of the directory is refused.
function confine(file) {
  const root = fs.realpathSync(process.cwd());
  const target = path.resolve(root, file);
  let existing = target;
  while (!fs.lstatSync(existing, { throwIfNoEntry: false })) existing = path.dirname(existing);
  const real = path.join(fs.realpathSync(existing), path.relative(existing, target));
  if (real !== root && !real.startsWith(root + path.sep)) throw new Error(`${file} is outside the workspace`);
  return real;
}

async function runShell(command) {
  const { spawn } = await import('node:child_process');
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks = [];
    let size = 0;
    const keep = (chunk) => {
      if (size <= longestShellBytes) chunks.push(chunk);
      size += chunk.length;
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    let note = '';
    const finish = () => {
      clearTimeout(timer);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(`${cut(Buffer.concat(chunks), longestShellBytes)}${note}`.trim() || '(no output)');
    };
    // A background child can hold the pipes open for ever, so the shell's own end is what counts.
    const timer = setTimeout(() => {
      note = '\n[stopped after 5 s]';
      child.kill('SIGKILL');
      finish();
    }, shellMs);
    child.on('error', (error) => {
      note = `Error: ${error.message}`;
      finish();
    });
    child.on('exit', (code) => {
      if (code !== 0 && note === '') note = `\n[exit ${code ?? 'by signal'}]`;
      setImmediate(finish);
    });
  });
}

function cut(bytes, limit) {
  return bytes.length <= limit ? bytes.toString('utf8') : `${bytes.toString('utf8', 0, limit)}\n[cut]`;
}
