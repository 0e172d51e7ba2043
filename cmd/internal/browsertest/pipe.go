package browsertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// pipe speaks the DevTools protocol over two pipes: JSON messages, each ended
// by a zero byte.
type pipe struct {
	mu      sync.Mutex
	w       io.Writer
	last    int
	waiting map[int]chan message
	closed  error // set once the browser's end is gone

	event func(message) // called in the order of arrival
}

// message is a command, an answer (ID set) or an event (Method set).
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
		Data    string `json:"data"`
	} `json:"error,omitempty"`
}

func newPipe(w io.Writer, event func(message)) *pipe {
	return &pipe{w: w, waiting: map[int]chan message{}, event: event}
}

// read hands out messages until r ends.
func (p *pipe) read(r io.Reader) {
	in := bufio.NewReader(r)
	for {
		raw, err := in.ReadBytes(0)
		if err != nil {
			p.close(fmt.Errorf("the browser has gone: %w", err))
			return
		}
		var m message
		if err := json.Unmarshal(raw[:len(raw)-1], &m); err != nil {
			p.close(fmt.Errorf("the browser sent no JSON: %w", err))
			return
		}
		if m.ID == 0 {
			p.event(m)
			continue
		}
		p.mu.Lock()
		answer := p.waiting[m.ID]
		delete(p.waiting, m.ID)
		p.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

func (p *pipe) close(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = err
	for id, answer := range p.waiting {
		close(answer)
		delete(p.waiting, id)
	}
}

// call sends a command and decodes its result into out, unless out is nil.
func (p *pipe) call(ctx context.Context, session, method string, params map[string]any, out any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	answer, err := p.send(message{Session: session, Method: method, Params: raw})
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: no answer: %w", method, ctx.Err())
	case m, ok := <-answer:
		switch {
		case !ok:
			return fmt.Errorf("%s: %w", method, p.closed)
		case m.Error != nil:
			return fmt.Errorf("%s: %s %s", method, m.Error.Message, m.Error.Data)
		case out == nil:
			return nil
		}
		if err := json.Unmarshal(m.Result, out); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		return nil
	}
}

func (p *pipe) send(m message) (<-chan message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed != nil {
		return nil, p.closed
	}
	p.last++
	m.ID = p.last
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	answer := make(chan message, 1)
	p.waiting[m.ID] = answer
	if _, err := p.w.Write(append(raw, 0)); err != nil {
		delete(p.waiting, m.ID)
		return nil, err
	}
	return answer, nil
}
